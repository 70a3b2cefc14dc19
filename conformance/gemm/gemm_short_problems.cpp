// Cases of gemm with sums so short that C is most of the work.
#include <utility>

#include "conformance/gemm/gemm_case.h"
#include "conformance/gemm/gemm_problems.h"

namespace tessera::conformance {

void add_gemm_short_sums(std::vector<std::unique_ptr<Case>>& cases, DataType type) {
  const auto add = [&](GemmSpec spec) { cases.push_back(make_gemm_case(std::move(spec))); };
  // Tiles of 32 to 128 columns side by side, with every tuning.
  Gemm some = gemm_of(type, 131, 261, 37);
  some.ldc = 263;
  some.beta = -0.5;
  add({.problem = some, .misalignment = 1, .every_tuning = true});
  // So many tiles that they may begin where memory's sectors do.
  for (const bool transpose : {false, true}) {
    Gemm many = gemm_of(type, 67, 1031, 3);
    many.transpose_a = transpose;
    many.transpose_b = !transpose;
    many.alpha = 0.1;
    add({.problem = many, .misalignment = 3});
  }
  Gemm batch = gemm_of(type, 21, 1101, 2);
  batch.batch = 3;
  batch.ldc = 1102;
  batch.stride_c = 21 * 1102 + 1;
  add({.problem = batch});
  // Few columns of many rows, and small products, each several times.
  Gemm narrow = gemm_of(type, 261, 7, 37);
  narrow.batch = 3;
  narrow.beta = 0.75;
  add({.problem = narrow, .every_tuning = true});
  Gemm small = gemm_of(type, 15, 17, 19);
  small.transpose_b = true;
  small.batch = 7;
  add({.problem = small, .every_tuning = true});
}

}  // namespace tessera::conformance
