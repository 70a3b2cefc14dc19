// kernel_regression, fused_split: rows as products by fp16 tensor cores read them (cuda_split_shape.h).
//
//   rows, as given       panels of 64 columns, of so many rows      A warp packs a row, its lanes eight neighbouring
//   | 0a 0b .. |         | rounded: 0a 1a .. | 0b 1b .. | ..        numbers, less the training rows' mean. It finds the
//   | 1a 1b .. |   ->    | rest:    0a 1a .. | 0b 1b .. | ..        squared length and the largest number first, and
//   | ..       |         chunks of eight numbers, of all rows       reads the row again, from the caches, to scale and
//                                                                   split it.
// A row that has no part, or is not there, becomes zeros and a length beyond all; zeros stand behind the last column.
#include <cstdint>

#include "cuda_kernel_overlap.cuh"
#include "cuda_split_elements.cuh"
#include "cuda_split_shape.h"
#include "ops/kernel_regression/kernel_regression_pack.cuh"

namespace tessera::cuda {

/// Numbers of a row from `at` on, a chunk; zeros behind the last.
struct RegressionChunk {
  float given[8];

  __device__ __forceinline__ RegressionChunk(const float* row, std::int64_t columns, std::int64_t at) {
    if (at + 8 <= columns && reinterpret_cast<std::uintptr_t>(row + at) % 16 == 0) {
      *reinterpret_cast<float4*>(given) = *reinterpret_cast<const float4*>(row + at);
      *reinterpret_cast<float4*>(given + 4) = *reinterpret_cast<const float4*>(row + at + 4);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) given[i] = at + i < columns ? row[at + i] : 0;
    }
  }
};

/// The largest of the lanes' numbers.
__device__ __forceinline__ unsigned largest_of_lanes(unsigned mine) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) mine = max(mine, __shfl_xor_sync(0xffffffffU, mine, apart));
  return mine;
}

/// Down to 2^-126, so that its power is a normal number and so is its inverse: what a row of smaller numbers loses is
/// far below the smallest squared distance that is not 0.
__device__ __forceinline__ int regression_shift(unsigned largest) {
  return min(shift_of_largest(largest), 126);
}

}  // namespace tessera::cuda

extern "C" __global__ void __launch_bounds__(32 * tessera::cuda::kRegressionPackWarps)
    tessera_kernel_regression_pack_split_float32(
        const __grid_constant__ tessera::cuda::RegressionPackArguments<float> pack) {
  using namespace tessera::cuda;
  constexpr int kChunk = 8, kStep = 32 * kChunk;
  let_next_kernel_start();
  wait_for_kernel_before();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t in_round = static_cast<std::int64_t>(blockIdx.x) * kRegressionPackWarps + threadIdx.x / 32;
  if (in_round >= pack.padded_rows) return;
  const std::int64_t row = pack.first_row + in_round;
  const bool is_there = row < pack.row_count;
  const float* const given = pack.rows + row * pack.columns;
  float sum = 0;
  float sum_given = 0;
  unsigned largest = 0;
#pragma unroll 4  // a row's numbers are fetched together: few rows leave nobody else to wait for
  for (std::int64_t at = lane * kChunk; is_there && at < pack.columns; at += kStep) {
    const RegressionChunk chunk(given, pack.columns, at);
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      if (at + i >= pack.columns) break;
      const float away = pack.centre == nullptr ? chunk.given[i] : chunk.given[i] - pack.centre[at + i];
      sum_given += chunk.given[i] * chunk.given[i];
      sum += away * away;
      largest = max(largest, __float_as_uint(away) & 0x7fffffffU);
    }
  }
  sum = sum_of_lanes(sum);
  sum_given = sum_of_lanes(sum_given);
  const bool counts = is_there && isfinite(sum) && isfinite(sum_given);
  if (lane == 0) pack.lengths[in_round] = counts ? sum : no_length<float>();
  if (pack.packed == nullptr) return;

  const int shift = counts ? regression_shift(largest_of_lanes(largest)) : 0;
  const float scale = power_of_two(shift);
  if (lane == 0) pack.factors[in_round] = power_of_two(-shift);
  const std::int64_t panel = in_round / pack.panel_rows;
  const std::int64_t plane_bytes = pack.panel_rows * kSplitPlane * 2;
  unsigned char* const packed = reinterpret_cast<unsigned char*>(pack.packed) +
                                panel * pack.panel_rows * pack.depth / kSplitPlane * kSplitRowBytes +
                                (in_round - panel * pack.panel_rows) * 16;
#pragma unroll 4
  for (std::int64_t at = lane * kChunk; at < pack.depth; at += kStep) {
    const RegressionChunk chunk(given, counts ? pack.columns : 0, at);
    uint4 rounded, rest;
    auto* const rounded_pairs = reinterpret_cast<__half2*>(&rounded);
    auto* const rest_pairs = reinterpret_cast<__half2*>(&rest);
#pragma unroll
    for (int i = 0; i < kChunk; i += 2) {
      float away[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const bool is_inside = counts && at + i + k < pack.columns;
        away[k] = is_inside ? (chunk.given[i + k] - pack.centre[at + i + k]) * scale : 0;
      }
      split_pair(away[0], away[1], rounded_pairs[i / 2], rest_pairs[i / 2]);
    }
    unsigned char* const to =
        packed + at / kSplitPlane * kSplitPlanes * plane_bytes + at % kSplitPlane / kChunk * pack.panel_rows * 16;
    *reinterpret_cast<uint4*>(to) = rounded;
    *reinterpret_cast<uint4*>(to + plane_bytes) = rest;
  }
}
