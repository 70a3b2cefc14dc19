// How gemm's thin variant reads a problem, which of its compiled shapes computes it, and what that takes.
#pragma once

#include <tessera/kernel.h>
#include <tessera/ops/gemm.h>

#include <cstdint>
#include <vector>

#include "backend/variant.h"
#include "cuda_context.h"
#include "ops/gemm/gemm_thin_arguments.h"

namespace tessera::cuda {

/// Which side of C is short, and how sums run over the rows of the large operand, as it is stored.
struct GemmThinWay {
  bool few_rows = false;  ///< of C; else few columns
  bool along = false;     ///< else down over them

  [[nodiscard]] std::int64_t few(const Gemm& problem) const { return few_rows ? problem.m : problem.n; }
  [[nodiscard]] std::int64_t many(const Gemm& problem) const { return few_rows ? problem.n : problem.m; }
};
[[nodiscard]] GemmThinWay gemm_thin_way(const Gemm& problem);

/// The shape with so many lanes.
[[nodiscard]] GemmThinShape gemm_thin_shape(const Gemm& problem, std::int64_t lanes);

/// The tunables lanes and split_k, and what is expected to be fastest.
[[nodiscard]] std::vector<Tunable> gemm_thin_tunables(const Gemm& problem, const DeviceLimits& card);

/// Yes where it is faster than register, by the models of both.
[[nodiscard]] backend::Verdict gemm_thin_pays(const Gemm& problem, const DeviceLimits& card);

}  // namespace tessera::cuda
