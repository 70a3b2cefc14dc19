// How the variant "split" cuts C, where it pays, and its error bound.
#pragma once

#include <cstdint>

#include "backend/operator_table.h"
#include "ops/gemm/gemm_register_blocks.h"

namespace tessera::cpu_tbb {

/// Elements of k between two visits of a sum. More are faster, but a sum's error grows with them.
inline constexpr std::int64_t kSplitDepth = 256;
/// So that a block's sums stay within 2 MiB.
inline constexpr std::int64_t kSplitMostRows = 1024;

/// The grid for a team. What a block computes does not depend on where it ends.
[[nodiscard]] Blocks split_blocks(const Gemm& problem, const Team& team);

/// The error bound as a multiple of the strict algorithm's (docs/decisions/0028).
[[nodiscard]] double split_error_factor(const Gemm& problem, const backend::Device& device);
/// Whether it is expected to be ahead of "register".
[[nodiscard]] backend::Verdict split_pays(const Gemm& problem, const backend::Device& device);

}  // namespace tessera::cpu_tbb
