// The shape of exact_bytes' tile of Hopper; read by host and device.
#pragma once

#include "ops/gemm/gemm_register_shapes.h"

namespace tessera::cuda {

/// Queries and training rows of a warp group's tile; blocks of a cluster, which share training rows.
inline constexpr int kWideQueries = 128, kWideRows = 128, kWideBlocks = 2;
/// Packed rows lie in chunks of so many bytes; a stage holds so many bytes of each.
inline constexpr int kWideChunk = 16, kWideStageBytes = 64;
/// Warp groups of a block that multiply, and what each has in shared memory: stages of packed rows, and places for what
/// else is known of a tile's rows.
inline constexpr int kWideGroups = 2, kWideStages = 5, kWideSlots = 2;
inline constexpr int kWideMeetingWarps = 4 * kWideGroups, kWideThreads = 128 * (kWideGroups + 1);
/// Bytes of a packed row, at most.
inline constexpr int kWideMostDepth = 864;
/// Shared memory of a block but for its queries.
inline constexpr int kWideFixedBytes = 119 * 1024;

}  // namespace tessera::cuda
