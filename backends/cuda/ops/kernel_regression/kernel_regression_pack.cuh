// kernel_regression by tiles: what the kernels that pack rows, a warp a row, have in common.
#pragma once

#include <climits>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ops/kernel_regression/kernel_regression_tiles_arguments.h"

namespace tessera::cuda {

/// Of a row that has no part, or is not there.
template <class Length>
__device__ __forceinline__ Length no_length() {
  if constexpr (std::is_integral_v<Length>) {
    return INT_MAX;
  } else {
    return INFINITY;
  }
}

/// What all lanes have, added in a fixed order; every lane gets it.
template <class Length>
__device__ __forceinline__ Length sum_of_lanes(Length mine) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) mine += __shfl_xor_sync(0xffffffffU, mine, apart);
  return mine;
}

inline constexpr int kRegressionChunk = 16;  ///< bytes that a thread fetches at once

/// A chunk of a row of bytes, of which `left` are there; zeros behind them.
__device__ __forceinline__ uint4 chunk_of(const std::uint8_t* bytes, std::int64_t left, bool is_aligned) {
  if (is_aligned && left >= kRegressionChunk) return *reinterpret_cast<const uint4*>(bytes);
  unsigned words[4] = {};
#pragma unroll
  for (int i = 0; i < kRegressionChunk; ++i) {
    if (i < left) words[i / 4] |= static_cast<unsigned>(bytes[i]) << i % 4 * 8;
  }
  return {words[0], words[1], words[2], words[3]};
}

/// Copies a row's chunks from `at` on, one every `step` bytes, to packed + packed_step * the chunk's first byte, and
/// returns the sum of the bytes' squares. Chunks are fetched four at a time: few rows leave nobody else to wait for.
__device__ __forceinline__ unsigned pack_chunks(const std::uint8_t* row, std::int64_t columns, bool is_aligned,
                                                std::int64_t at, std::int64_t step, std::int64_t depth,
                                                std::uint8_t* packed, std::int64_t packed_step) {
  constexpr int kAtOnce = 4;
  unsigned length = 0;
#pragma unroll 1
  for (; at < depth; at += kAtOnce * step) {
    uint4 chunks[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) chunks[i] = chunk_of(row + at + i * step, columns - at - i * step, is_aligned);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      length = __dp4a(chunks[i].x, chunks[i].x, length);
      length = __dp4a(chunks[i].y, chunks[i].y, length);
      length = __dp4a(chunks[i].z, chunks[i].z, length);
      length = __dp4a(chunks[i].w, chunks[i].w, length);
      if (at + i * step < depth) *reinterpret_cast<uint4*>(packed + (at + i * step) * packed_step) = chunks[i];
    }
  }
  return length;
}

}  // namespace tessera::cuda
