// What the kernels of nonlocal_means take, by value; read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// A problem of nonlocal_means and its memory; of each axis, x first (MeansAxis of
/// mathematics/nonlocal_means_numbers.h).
struct MeansArguments {
  const void* volume;
  void* result;
  std::uint32_t* largest;      ///< bits of the largest finite magnitude, of floats
  std::int32_t* numbers;       ///< the volume with its borders, channel after channel
  const std::uint32_t* table;  ///< of weights, and of each exponent's scale
  std::int64_t size[3];
  std::int64_t before[3];
  std::int64_t behind[3];
  std::int64_t patch[3];
  std::int64_t patch_before[3];
  std::int64_t channels;
  std::uint64_t reach;  ///< a distance above it weighs nothing
};

inline constexpr int kMeansThreads = 128;
// As mathematics/nonlocal_means_numbers.h has them.
inline constexpr int kMeansNumberBits = 19;
inline constexpr std::int32_t kMeansNoNumber = 1 << 26;
inline constexpr int kMeansTableWeights = 4096;
inline constexpr int kMeansLeastScale = -100;
inline constexpr int kMeansMostScale = 128;

}  // namespace tessera::cuda
