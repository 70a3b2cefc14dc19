// How the thin variants of gemm on GPUs read a problem: which side of C is short, and how the large operand lies.
#pragma once

#include <tessera/ops/gemm.h>

#include <cstdint>

namespace tessera::mathematics {

/// Which side of C is short, and how sums run over the rows of the large operand, as it is stored.
struct GemmThinWay {
  bool few_rows = false;  ///< of C; else few columns
  bool along = false;     ///< else down over them

  [[nodiscard]] std::int64_t few(const Gemm& problem) const { return few_rows ? problem.m : problem.n; }
  [[nodiscard]] std::int64_t many(const Gemm& problem) const { return few_rows ? problem.n : problem.m; }
};

[[nodiscard]] inline GemmThinWay gemm_thin_way(const Gemm& problem) {
  GemmThinWay way;
  way.few_rows = problem.m <= problem.n;
  // A single column whose elements follow each other lies along k as well as down.
  way.along = way.few_rows ? problem.transpose_b || (problem.n == 1 && problem.ldb == 1)
                           : !problem.transpose_a || (problem.m == 1 && problem.lda == 1);
  return way;
}

}  // namespace tessera::mathematics
