// Cases of gemm in which rows of one operand suit copies of 16 bytes, of 8, or of single elements, and rows of the
// other suit others.
#include "conformance/gemm/gemm_case.h"
#include "conformance/gemm/gemm_problems.h"

namespace tessera::conformance {

void add_gemm_unlike_rows(std::vector<std::unique_ptr<Case>>& cases, DataType type) {
  const Gemm sizes[]{gemm_of(type, 70, 66, 130), gemm_of(type, 70, 68, 132), gemm_of(type, 71, 68, 134)};
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (Gemm problem : sizes) {
        problem.transpose_a = transpose_a;
        problem.transpose_b = transpose_b;
        cases.push_back(make_gemm_case({.problem = problem}));
      }
    }
  }
}

}  // namespace tessera::conformance
