// The shape of exact_bytes' tile of Hopper; read by host and device.
#pragma once

#include "ops/gemm/gemm_register_shapes.h"

namespace tessera::cuda {

/// Queries of a block and training rows of a tile; blocks of a cluster, which share training rows.
inline constexpr int kWideQueries = 128, kWideRows = 128, kWideBlocks = 2;
/// Packed rows lie in chunks of so many bytes; a stage holds so many bytes of each.
inline constexpr int kWideChunk = 16, kWideStageBytes = 64;
/// Rings of training rows in a block's shared memory, and what each has: stages of packed rows, and places for what
/// else is known of a tile's rows. Two warp groups multiply the rows of a ring by a half of the block's queries each.
inline constexpr int kWideRings = 2, kWideStages = 5, kWideSlots = 2;
inline constexpr int kWideHalves = 2, kWideHalf = kWideQueries / kWideHalves, kWideRingWarps = 4 * kWideHalves;
inline constexpr int kWideMeetingWarps = kWideRings * kWideRingWarps, kWideThreads = 32 * kWideMeetingWarps + 128;
/// Registers of the threads that multiply and of the others.
inline constexpr int kWideMeetingRegisters = 112, kWideOtherRegisters = 32;
/// Bytes of a packed row, at most.
inline constexpr int kWideMostDepth = 864;
/// Shared memory of a block but for its queries.
inline constexpr int kWideFixedBytes = 119 * 1024;

}  // namespace tessera::cuda
