// What gemm's variants by fp16 have in common, whoever multiplies: the kernel that prepares and multiplies, and which
// problems they take.
#pragma once

#include <tessera/ops/gemm.h>

#include <memory>

#include "backend/backend.h"
#include "backend/variant.h"
#include "ops/gemm/gemm_split_launch.h"

namespace tessera::cuda {

/// The kernel of a variant, by these kernels of it. Batches are computed in several launches where their copies would
/// take too much memory.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_gemm_split_kernel(std::shared_ptr<Context> context,
                                                                      const Gemm& problem, GemmSplitKind kind,
                                                                      const GemmSplitTiling& tiling,
                                                                      const GemmSplitLaunch::Products& products);

/// Do accuracy, type and size of the problem allow the variant of this name? `largest`: of its tiles.
[[nodiscard]] backend::Verdict check_gemm_split_problem(const Gemm& problem, const backend::Device& device,
                                                        GemmSplitKind kind, const char* variant,
                                                        const GemmSplitTiling& largest);

/// The beginning of the names of a variant's kernels, whose end is a tile: "tessera_gemm_split_".
[[nodiscard]] std::string gemm_split_kernel_name(GemmSplitKind kind);

}  // namespace tessera::cuda
