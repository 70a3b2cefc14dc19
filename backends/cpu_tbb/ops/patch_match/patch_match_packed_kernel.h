// The inner part of "packed_key": one reference against all its candidates, in the best instruction set that the
// processor has.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ops/patch_match/patch_match_keys.h"

namespace tessera::cpu_tbb {

/// The type in which distances of volumes of T are compared with each other. Of bytes they are 32 bits long.
template <class T>
using PackedDistance =
    std::conditional_t<std::is_same_v<T, float>, float,
                       std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int32_t, std::int64_t>>;

/// Voxels of a patch up to which sums of squares of bytes, and of products of two bytes' differences, are an int32.
inline constexpr std::int64_t kMostPackedVoxels = std::numeric_limits<std::int32_t>::max() / (255 * 255);

/// One reference and its candidates.
template <class T>
struct PackedReference {
  const T* volume_end = nullptr;
  const T* reference = nullptr;        ///< its first voxel
  const T* first = nullptr;            ///< that of its first candidate
  std::int64_t row = 0;                ///< voxels from one row of the volume to the next
  std::int64_t plane = 0;              ///< and from one plane to the next
  PerAxis candidates;                  ///< along each axis
  PerAxis patch;                       ///< up to kMostPackedVoxels, unless they are floats
  PackedDistance<T> first_unkept = 0;  ///< candidates must be nearer than that
  std::byte* memory = nullptr;         ///< packed_bytes() of patch_match_packed_layout.h
};

/// Fills the keys, which are empty.
void match_packed(const PackedReference<std::uint8_t>& reference, PatchKeys& keys);
void match_packed(const PackedReference<std::uint16_t>& reference, PatchKeys& keys);
void match_packed(const PackedReference<float>& reference, PatchKeys& keys);

}  // namespace tessera::cpu_tbb
