// patch_match: where references and candidates lie, and the distance of two patches.
//
//   voxels    name         sums       Bytes are summed in 32 bits where a patch is so small that they hold all sums,
//   uint8     uint8        uint32     else in 64. A float distance is defined operation by operation (decision 0017):
//   uint8     uint8_wide   uint64     no product is fused with a sum.
//   uint16    uint16       uint64
//   float     float32      float
#pragma once

#include <climits>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ops/patch_match/patch_match_arguments.h"

namespace tessera::cuda {

template <class Voxel_, class Sum_>
struct PatchTypes {
  using Voxel = Voxel_;
  using Sum = Sum_;
  using Stored = std::conditional_t<std::is_same_v<Voxel, float>, float, std::int64_t>;  ///< as stacks hold it

  [[nodiscard]] static __device__ __forceinline__ Stored empty() {
    if constexpr (std::is_same_v<Voxel, float>) {
      return INFINITY;
    } else {
      return INT64_MAX;
    }
  }
  [[nodiscard]] static __device__ __forceinline__ const Voxel* volume(const PatchArguments& match) {
    return static_cast<const Voxel*>(match.volume);
  }
  [[nodiscard]] static __device__ __forceinline__ Stored* distances(const PatchArguments& match) {
    return static_cast<Stored*>(match.distances);
  }
  [[nodiscard]] static __device__ __forceinline__ Sum square(Voxel a, Voxel b) {
    if constexpr (std::is_same_v<Voxel, float>) {
      const float apart = __fsub_rn(a, b);
      return __fmul_rn(apart, apart);
    } else {
      const int apart = static_cast<int>(a) - static_cast<int>(b);
      const auto size = static_cast<std::uint32_t>(apart < 0 ? -apart : apart);
      return static_cast<Sum>(size * size);  // that of 16 bits fits into 32 that have no sign
    }
  }
  [[nodiscard]] static __device__ __forceinline__ Sum add(Sum a, Sum b) {
    if constexpr (std::is_same_v<Voxel, float>) {
      return __fadd_rn(a, b);
    } else {
      return a + b;
    }
  }
  /// As stacks hold it: empty() if the threshold does not keep it, or it is not finite.
  [[nodiscard]] static __device__ __forceinline__ Stored kept(const PatchArguments& match, Sum distance) {
    if constexpr (std::is_same_v<Voxel, float>) {
      return distance <= match.largest_float ? distance : empty();
    } else {
      return static_cast<Stored>(distance) <= match.largest ? static_cast<Stored>(distance) : empty();
    }
  }
};

using PatchUint8 = PatchTypes<std::uint8_t, std::uint32_t>;
using PatchUint8Wide = PatchTypes<std::uint8_t, std::uint64_t>;
using PatchUint16 = PatchTypes<std::uint16_t, std::uint64_t>;
using PatchFloat32 = PatchTypes<float, float>;

/// A reference's first voxel, and the candidates around it: from `first` on, so many along each axis.
struct PatchWindow {
  std::int64_t reference;
  std::int64_t first[3];
  std::int64_t count[3];

  __device__ PatchWindow(const PatchArguments& match, std::int64_t number) {
    std::int64_t place[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t next = number / match.references[axis];
      const std::int64_t along = match.start[axis] + (number - next * match.references[axis]) * match.step[axis];
      place[axis] = along < match.last_place[axis] ? along : match.last_place[axis];
      const std::int64_t begin = place[axis] - match.window[axis] / 2;
      const std::int64_t end = begin + match.window[axis];
      first[axis] = begin > 0 ? begin : 0;
      count[axis] = (end < match.places[axis] ? end : match.places[axis]) - first[axis];
      number = next;
    }
    reference = (place[2] * match.size[1] + place[1]) * match.size[0] + place[0];
  }
  [[nodiscard]] __device__ std::int64_t candidates() const {
    return count[0] * count[1] * count[2];
  }
  /// The first voxel of a candidate, in the order of indices, among those that are held.
  [[nodiscard]] __device__ std::int64_t candidate(const PatchArguments& match, std::int64_t number) const {
    const std::int64_t row = number / count[0];
    const std::int64_t plane = row / count[1];
    const std::int64_t y = first[1] + row - plane * count[1];
    return ((first[2] + plane) * match.size[1] + y) * match.size[0] + first[0] + number - row * count[0];
  }
  /// The same in the whole volume.
  [[nodiscard]] __device__ std::int64_t index(const PatchArguments& match, std::int64_t number) const {
    return match.first_voxel + candidate(match, number);
  }
};

[[nodiscard]] __device__ __forceinline__ std::int64_t references_of(const PatchArguments& match) {
  return match.references[0] * match.references[1] * match.references[2];
}

/// Of the patches that begin at these voxels.
template <class Types>
[[nodiscard]] __device__ __forceinline__ typename Types::Sum patch_distance(const PatchArguments& match,
                                                                            std::int64_t reference,
                                                                            std::int64_t candidate) {
  using Sum = typename Types::Sum;
  const auto* const a = Types::volume(match) + reference;
  const auto* const b = Types::volume(match) + candidate;
  Sum planes = 0;
  for (std::int64_t z = 0; z < match.patch[2]; ++z) {
    Sum rows = 0;
    for (std::int64_t y = 0; y < match.patch[1]; ++y) {
      const std::int64_t first = (z * match.size[1] + y) * match.size[0];
      Sum row = 0;
      for (std::int64_t x = first; x < first + match.patch[0]; ++x) row = Types::add(row, Types::square(a[x], b[x]));
      rows = Types::add(rows, row);
    }
    planes = Types::add(planes, rows);
  }
  return planes;
}

/// The distance that a group's thread finds for its pass.
template <class Types>
[[nodiscard]] __device__ __forceinline__ typename Types::Stored kept_patch_distance(const PatchArguments& match,
                                                                                    const PatchWindow& window,
                                                                                    std::int64_t number) {
  return Types::kept(match, patch_distance<Types>(match, window.reference, window.candidate(match, number)));
}

}  // namespace tessera::cuda

/// Calls KERNEL(Types, name) for all types of voxels.
#define TESSERA_PATCH_TYPES(KERNEL)                 \
  KERNEL(tessera::cuda::PatchUint8, uint8)          \
  KERNEL(tessera::cuda::PatchUint8Wide, uint8_wide) \
  KERNEL(tessera::cuda::PatchUint16, uint16)        \
  KERNEL(tessera::cuda::PatchFloat32, float32)
