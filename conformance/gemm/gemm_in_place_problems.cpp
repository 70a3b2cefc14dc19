// Cases of gemm that are small enough to be read where they lie, A transposed or not; few rows of C with B transposed,
// which may be computed as C's transpose; and a batch that may be computed as one product.
#include <utility>

#include "conformance/gemm/gemm_case.h"
#include "conformance/gemm/gemm_problems.h"

namespace tessera::conformance {

void add_gemm_in_place(std::vector<std::unique_ptr<Case>>& cases, DataType type) {
  const auto add = [&](GemmSpec spec) { cases.push_back(make_gemm_case(std::move(spec))); };
  // So many columns of the transpose that its blocks are cut, and several steps of k.
  Gemm few_rows = gemm_of(type, 48, 1101, 401);
  few_rows.transpose_b = true;
  few_rows.alpha = 0.5;
  few_rows.beta = 0.75;
  few_rows.lda = 402;
  few_rows.ldb = 405;
  few_rows.ldc = 1102;
  add({.problem = few_rows, .misalignment = 1});
  Gemm both = gemm_of(type, 61, 37, 201);
  both.transpose_a = both.transpose_b = true;
  both.beta = -0.5;
  add({.problem = both});
  // Rows of A a multiple of a page apart, and columns beside it.
  add({.problem = gemm_of(type, 45, 40, 1024)});
  Gemm columns = gemm_of(type, 45, 70, 300);
  columns.transpose_a = true;
  columns.lda = 47;
  add({.problem = columns, .misalignment = 3});
  // A batch that takes less time than giving it to threads.
  Gemm batch = gemm_of(type, 10, 6, 67);
  batch.transpose_b = true;
  batch.batch = 3;
  add({.problem = batch});
  // Rows of all A's and C's as those of one, in rows that are longer, and one B.
  Gemm one_behind_the_other = gemm_of(type, 23, 31, 45);
  one_behind_the_other.batch = 5;
  one_behind_the_other.lda = 47;
  one_behind_the_other.ldc = 34;
  one_behind_the_other.stride_b = 0;
  one_behind_the_other.transpose_b = true;
  one_behind_the_other.beta = 0.5;
  add({.problem = one_behind_the_other, .every_tuning = true});
}

}  // namespace tessera::conformance
