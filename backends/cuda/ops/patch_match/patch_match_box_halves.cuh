// patch_match, box_sums for floats and 16 bits, a reference at every place: a group's tile on its way into shared
// memory.
//
// In fp16 voxels are taken from the tile's mean and scaled by a power of two that brings the largest to
// [2^14, 2^15). Norms are of what fp16 holds. Where the volume ends, its last voxels are repeated.
#pragma once

#include <cuda_fp16.h>

#include <cmath>

#include "ops/patch_match/patch_match_box_columns.cuh"

namespace tessera::cuda {

/// Where a warp's first reference is, from the tile's.
__device__ __forceinline__ int halves_unit_x() {
  return static_cast<int>(threadIdx.x) / 32 % BoxBytes::kWarpsX * BoxBytes::kUnitX;
}
__device__ __forceinline__ int halves_unit_y() {
  return static_cast<int>(threadIdx.x) / 32 / BoxBytes::kWarpsX * BoxBytes::kUnitY;
}

/// Where everything is in shared memory:
///
///   | words: two voxels in fp16 from each place on along x | norms of all candidates, halved and negative |
///   | what each warp notes | voxels as they are |
///     [z][y][x], x next to each other
template <class Types>
struct HalvesMemory {
  using Voxel = std::conditional_t<std::is_same_v<typename Types::Voxel, float>, float, std::int32_t>;

  std::uint32_t* words;
  float* norms;
  unsigned char* noted;  ///< by all warps
  Voxel* voxels;

  __device__ explicit HalvesMemory(unsigned char* shared)
      : words(reinterpret_cast<std::uint32_t*>(shared)),
        norms(reinterpret_cast<float*>(words + BoxHalves::kWords)),
        noted(shared + BoxHalves::kScreenBytes),
        voxels(reinterpret_cast<Voxel*>(noted + BoxHalves::kWarps * BoxHalves::kWarpBytes)) {}
  [[nodiscard]] __device__ __forceinline__ unsigned char* of_warp() const {
    return noted + threadIdx.x / 32 * BoxHalves::kWarpBytes;
  }
  /// A warp's lists, after all have done with words and norms.
  [[nodiscard]] __device__ __forceinline__ std::uint16_t* lists() const {
    return reinterpret_cast<std::uint16_t*>(words) + threadIdx.x / 32 * BoxHalves::kListStride;
  }
};

/// What voxels are taken from, and by what they are multiplied; 0: they are not finite, or differ by too much or too
/// little.
struct HalvesScale {
  float mean;
  float scale;
};

/// Of a candidate that does not exist, halved and negative.
inline constexpr float kNoHalvesNorm = -1e30F;

/// The tile's voxels, and what they are between.
template <class Types>
__device__ __forceinline__ HalvesScale load_box_voxels(const PatchBoxArguments& box, const std::int64_t (&first)[3],
                                                       const HalvesMemory<Types>& memory) {
  const PatchArguments& match = box.match;
  constexpr int kPart = 7;
  constexpr int kParts = BoxHalves::kVoxelsX / kPart;
  constexpr int kRows = BoxBytes::kWordsY * BoxBytes::kWordsZ;
  static_assert(kPart * kParts == BoxHalves::kVoxelsX);
  int low[3];
  int high[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    constexpr std::int64_t kBeyond = BoxHalves::kVoxelsX;
    const std::int64_t last = match.size[axis] - 1 - first[axis];
    low[axis] = first[axis] < 0 ? static_cast<int>(-first[axis]) : 0;
    high[axis] = static_cast<int>(last < kBeyond ? last : kBeyond);
  }
  const auto* const volume = Types::volume(match) + (first[2] * match.size[1] + first[1]) * match.size[0] + first[0];
  float least = INFINITY;
  float most = -INFINITY;
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < kParts * kRows; i += BoxBytes::kThreads) {
    const int row = i / kParts;
    const int x = i % kParts * kPart;
    const int z = row / BoxBytes::kWordsY;
    const int y = row - z * BoxBytes::kWordsY;
    const auto* const from =
        volume + (min(max(z, low[2]), high[2]) * match.size[1] + min(max(y, low[1]), high[1])) * match.size[0];
#pragma unroll
    for (int k = 0; k < kPart; ++k) {
      const auto voxel = from[min(max(x + k, low[0]), high[0])];
      memory.voxels[z * BoxHalves::kVoxelPlane + y * BoxHalves::kVoxelRow + x + k] = voxel;
      const auto value = static_cast<float>(voxel);
      least = fminf(least, value);
      most = fmaxf(most, value);
      sum += value;
    }
  }
  constexpr unsigned kAll = 0xffffffffU;
#pragma unroll
  for (int apart = 16; apart >= 1; apart /= 2) {
    least = fminf(least, __shfl_xor_sync(kAll, least, apart));
    most = fmaxf(most, __shfl_xor_sync(kAll, most, apart));
    sum += __shfl_xor_sync(kAll, sum, apart);
  }
  constexpr int kWarps = BoxHalves::kWarps;
  auto* const parts = reinterpret_cast<float*>(memory.noted + kWarps * BoxHalves::kWarpBytes) - 3 * kWarps;
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = least;
    parts[threadIdx.x / 32 + kWarps] = most;
    parts[threadIdx.x / 32 + 2 * kWarps] = sum;
  }
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    least = fminf(least, parts[i]);
    most = fmaxf(most, parts[i + kWarps]);
    sum += parts[i + 2 * kWarps];
  }
  const float mean = sum * (1.0F / (kRows * BoxHalves::kVoxelsX));
  const float range = fmaxf(most - mean, mean - least);
  // NaN and infinities make the sum one of them.
  const bool is_usable = range >= 0x1p-40F && range <= 0x1p60F && fabsf(sum) < INFINITY;
  const unsigned exponent = __float_as_uint(range) >> 23;
  return {mean, is_usable ? __uint_as_float((127 + 127 + 14 - exponent) << 23) : 0.0F};
}

/// Words, and the sums of squares of the four voxels from each place on along x.
template <class Types>
__device__ __forceinline__ void make_box_words(const HalvesScale& scale, const HalvesMemory<Types>& memory) {
  constexpr int kPart = 5;
  constexpr int kParts = BoxHalves::kRow / kPart;
  constexpr int kReach = kPart + BoxBytes::kPatch - 1;
  static_assert(kPart * kParts == BoxHalves::kRow);
  auto* const rows = reinterpret_cast<float*>(memory.noted);
  for (int i = static_cast<int>(threadIdx.x); i < kParts * BoxBytes::kWordsY * BoxBytes::kWordsZ;
       i += BoxBytes::kThreads) {
    const int row = i / kParts;
    const int x = i % kParts * kPart;
    const int z = row / BoxBytes::kWordsY;
    const int y = row - z * BoxBytes::kWordsY;
    const auto* const from = memory.voxels + z * BoxHalves::kVoxelPlane + y * BoxHalves::kVoxelRow;
    const int at = z * BoxHalves::kPlane + y * BoxHalves::kRow + x;
    unsigned halves[kReach];
    float squares[kReach];
#pragma unroll
    for (int k = 0; k < kReach; ++k) {
      const auto voxel = static_cast<float>(from[min(x + k, BoxHalves::kVoxelsX - 1)]);
      const __half half = __float2half_rn(__fsub_rn(voxel, scale.mean) * scale.scale);
      halves[k] = __half_as_ushort(half);
      squares[k] = __half2float(half) * __half2float(half);
    }
#pragma unroll
    for (int k = 0; k < kPart; ++k) {
      memory.words[at + k] = halves[k] | halves[k + 1] << 16;
      rows[at + k] = (squares[k] + squares[k + 1]) + (squares[k + 2] + squares[k + 3]);
    }
  }
}

/// A thread a column along z, whose planes' sums of squares add up to norms.
template <class Types>
__device__ __forceinline__ void find_halves_norms(const PatchBoxArguments& box, const std::int64_t (&first)[3],
                                                  const HalvesMemory<Types>& memory) {
  using Box = BoxHalves;
  const PatchArguments& match = box.match;
  const auto* const rows = reinterpret_cast<const float*>(memory.noted);
  for (int i = static_cast<int>(threadIdx.x); i < Box::kRow * BoxBytes::kNormsY; i += BoxBytes::kThreads) {
    const int y = i / Box::kRow;
    const int x = i - y * Box::kRow;
    const bool is_column = x < BoxBytes::kNormsX && first[0] + x >= 0 && first[0] + x < match.places[0] &&
                           first[1] + y >= 0 && first[1] + y < match.places[1];
    float planes[BoxBytes::kPatch] = {};
#pragma unroll
    for (int z = 0; z < BoxBytes::kWordsZ; ++z) {
      const float* const at = rows + z * Box::kPlane + i;
      planes[z % BoxBytes::kPatch] = (at[0] + at[Box::kRow]) + (at[2 * Box::kRow] + at[3 * Box::kRow]);
      if (z < BoxBytes::kPatch - 1) continue;
      const int place = z - (BoxBytes::kPatch - 1);
      const bool is_there = is_column && first[2] + place >= 0 && first[2] + place < match.places[2];
      const float norm = (planes[0] + planes[1]) + (planes[2] + planes[3]);
      memory.norms[place * Box::kPlane + i] = is_there ? -0.5F * norm : kNoHalvesNorm;
    }
  }
}

/// All threads call it.
template <class Types>
__device__ __forceinline__ HalvesScale load_halves(const PatchBoxArguments& box, const HalvesMemory<Types>& memory) {
  std::int64_t first[3];
  BoxTile(box).find_region(first);
  const HalvesScale scale = load_box_voxels<Types>(box, first, memory);
  if (scale.scale == 0) return scale;  // the same of all threads
  make_box_words<Types>(scale, memory);
  __syncthreads();
  find_halves_norms<Types>(box, first, memory);
  __syncthreads();
  return scale;
}

}  // namespace tessera::cuda
