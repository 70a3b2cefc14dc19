// patch_match, box_sums for floats and 16 bits, a reference at every place: a group's tile on its way into shared
// memory.
//
// In fp16 voxels are taken from the tile's mean and scaled by a power of two that brings the largest to
// [2^14, 2^15). Norms are of what fp16 holds. Where the volume ends, its last voxels are repeated.
#pragma once

#include <cuda_fp16.h>

#include <cmath>

#include "ops/patch_match/patch_match_box_group.cuh"
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

/// Where everything is in shared memory:
///
///   | words: two voxels in fp16 from each place on along x | norms of all candidates, halved and negative |
///   | what each warp notes | voxels as they are |
///     [z][y][x], x next to each other
template <class Types, int kWindow>
struct HalvesMemory {
  using Box = BoxHalves<kWindow>;
  using Voxel = std::conditional_t<std::is_same_v<typename Types::Voxel, float>, float, std::int32_t>;

  std::uint32_t* words;
  float* norms;
  unsigned char* noted;  ///< by all warps
  Voxel* voxels;

  __device__ explicit HalvesMemory(unsigned char* shared)
      : words(reinterpret_cast<std::uint32_t*>(shared)),
        norms(reinterpret_cast<float*>(words + Box::kWords)),
        noted(shared + Box::kScreenBytes),
        voxels(reinterpret_cast<Voxel*>(noted + Box::kWarps * Box::kWarpBytes)) {}
  [[nodiscard]] __device__ __forceinline__ unsigned char* of_warp() const {
    return noted + threadIdx.x / 32 * Box::kWarpBytes;
  }
  /// A warp's lists, after all have done with words and norms.
  [[nodiscard]] __device__ __forceinline__ std::uint16_t* lists() const {
    return reinterpret_cast<std::uint16_t*>(words) + threadIdx.x / 32 * Box::kListStride;
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
template <class Types, int kWindow>
__device__ __forceinline__ HalvesScale load_box_voxels(const PatchBoxArguments& box, const std::int64_t (&first)[3],
                                                       const HalvesMemory<Types, kWindow>& memory) {
  using Box = BoxHalves<kWindow>;
  const PatchArguments& match = box.match;
  constexpr int kParts = 3;  // of a row; the last one begins within the one before where they are longer than it
  constexpr int kPart = (Box::kVoxelsX + kParts - 1) / kParts;
  constexpr int kRows = Box::kWordsY * Box::kWordsZ;
  int low[3];
  int high[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    constexpr std::int64_t kBeyond = Box::kVoxelsX;
    const std::int64_t last = match.size[axis] - 1 - first[axis];
    low[axis] = first[axis] < 0 ? static_cast<int>(-first[axis]) : 0;
    high[axis] = static_cast<int>(last < kBeyond ? last : kBeyond);
  }
  const auto* const volume = Types::volume(match) + (first[2] * match.size[1] + first[1]) * match.size[0] + first[0];
  float least = INFINITY;
  float most = -INFINITY;
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < kParts * kRows; i += Box::kThreads) {
    const int row = i / kParts;
    const int x = min(i % kParts * kPart, Box::kVoxelsX - kPart);
    const int z = row / Box::kWordsY;
    const int y = row - z * Box::kWordsY;
    const auto* const from =
        volume + (min(max(z, low[2]), high[2]) * match.size[1] + min(max(y, low[1]), high[1])) * match.size[0];
#pragma unroll
    for (int k = 0; k < kPart; ++k) {
      const auto voxel = from[min(max(x + k, low[0]), high[0])];
      memory.voxels[z * Box::kVoxelPlane + y * Box::kVoxelRow + x + k] = voxel;
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
  constexpr int kWarps = Box::kWarps;
  auto* const parts = reinterpret_cast<float*>(memory.noted + kWarps * Box::kWarpBytes) - 3 * kWarps;
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
  const float mean = sum * (1.0F / (kRows * kParts * kPart));
  const float range = fmaxf(most - mean, mean - least);
  // NaN and infinities make the sum one of them.
  const bool is_usable = range >= 0x1p-40F && range <= 0x1p60F && fabsf(sum) < INFINITY;
  const unsigned exponent = __float_as_uint(range) >> 23;
  return {mean, is_usable ? __uint_as_float((127 + 127 + 14 - exponent) << 23) : 0.0F};
}

/// Words, and the sums of squares of the four voxels from each place on along x.
template <class Types, int kWindow>
__device__ __forceinline__ void make_box_words(const HalvesScale& scale, const HalvesMemory<Types, kWindow>& memory) {
  using Box = BoxHalves<kWindow>;
  constexpr int kPart = Box::kRow % 5 == 0 ? 5 : Box::kRow % 6 == 0 ? 6 : 7;
  constexpr int kParts = Box::kRow / kPart;
  constexpr int kReach = kPart + Box::kPatch - 1;
  static_assert(kPart * kParts == Box::kRow);
  auto* const rows = reinterpret_cast<float*>(memory.noted);
  for (int i = static_cast<int>(threadIdx.x); i < kParts * Box::kWordsY * Box::kWordsZ; i += Box::kThreads) {
    const int row = i / kParts;
    const int x = i % kParts * kPart;
    const int z = row / Box::kWordsY;
    const int y = row - z * Box::kWordsY;
    const auto* const from = memory.voxels + z * Box::kVoxelPlane + y * Box::kVoxelRow;
    const int at = z * Box::kPlane + y * Box::kRow + x;
    unsigned halves[kReach];
    float squares[kReach];
#pragma unroll
    for (int k = 0; k < kReach; ++k) {
      const auto voxel = static_cast<float>(from[min(x + k, Box::kVoxelsX - 1)]);
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
template <class Types, int kWindow>
__device__ __forceinline__ void find_halves_norms(const PatchBoxArguments& box, const std::int64_t (&first)[3],
                                                  const HalvesMemory<Types, kWindow>& memory) {
  using Box = BoxHalves<kWindow>;
  const PatchArguments& match = box.match;
  const auto* const rows = reinterpret_cast<const float*>(memory.noted);
  for (int i = static_cast<int>(threadIdx.x); i < Box::kRow * Box::kNormsY; i += Box::kThreads) {
    const int y = i / Box::kRow;
    const int x = i - y * Box::kRow;
    const bool is_column = x < Box::kNormsX && first[0] + x >= 0 && first[0] + x < match.places[0] &&
                           first[1] + y >= 0 && first[1] + y < match.places[1];
    float planes[Box::kPatch] = {};
#pragma unroll
    for (int z = 0; z < Box::kWordsZ; ++z) {
      const float* const at = rows + z * Box::kPlane + i;
      planes[z % Box::kPatch] = (at[0] + at[Box::kRow]) + (at[2 * Box::kRow] + at[3 * Box::kRow]);
      if (z < Box::kPatch - 1) continue;
      const int place = z - (Box::kPatch - 1);
      const bool is_there = is_column && first[2] + place >= 0 && first[2] + place < match.places[2];
      const float norm = (planes[0] + planes[1]) + (planes[2] + planes[3]);
      memory.norms[place * Box::kPlane + i] = is_there ? -0.5F * norm : kNoHalvesNorm;
    }
  }
}

/// All threads call it.
template <class Types, int kWindow>
__device__ __forceinline__ HalvesScale load_halves(const PatchBoxArguments& box,
                                                   const HalvesMemory<Types, kWindow>& memory) {
  std::int64_t first[3];
  BoxTile(box).find_region(first);
  const HalvesScale scale = load_box_voxels<Types, kWindow>(box, first, memory);
  if (scale.scale == 0) return scale;  // the same of all threads
  make_box_words<Types, kWindow>(scale, memory);
  __syncthreads();
  find_halves_norms<Types, kWindow>(box, first, memory);
  __syncthreads();
  return scale;
}

}  // namespace tessera::cuda
