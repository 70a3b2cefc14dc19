// What the kernels of denoise take, by value; read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// A step of denoise, a round of its references, and memory. Of each axis, x first.
struct DenoiseArguments {
  const void* volume;
  const void* basic;   ///< of the hard threshold the volume
  const void* source;  ///< what is transformed
  void* result;
  void* mean;  ///< of colours: what is matched
  const float* table;
  std::uint32_t* largest;  ///< bits of the largest finite magnitude, of floats
  const std::int32_t* counts;
  const std::int64_t* indices;
  std::uint64_t* sums;  ///< pairs of a voxel's weighted estimates and its weights, channel after channel
  float* coefficients;  ///< stack after stack, patch after patch
  float* guide;         ///< the same of the basic estimate
  std::uint64_t* energies;
  std::int64_t size[3];
  std::int64_t patch[3];
  std::int64_t held[3];      ///< voxels whose sums are held: the volume, but along the slabs' axis a ring of slices
  std::int64_t references;   ///< of the round
  std::int64_t first_slice;  ///< of those that are cleared or finished
  std::int64_t end_slice;
  std::int64_t end_of_sums;  ///< slices from here on are reached by no stack
  std::int64_t places;       ///< of a stack, a power of two: 1 << place_bits
  std::int64_t channels;
  std::int64_t channel;
  std::int32_t axis;  ///< of the slabs: 1 or 2
  std::int32_t has_basic;
  std::int32_t has_instead;  ///< of what is transformed: where it is not finite, the basic estimate is taken
  std::int32_t fraction_bits;
  std::int32_t place_bits;
  std::int32_t stack_bytes;  ///< of "fused": shared memory of a stack
  float units;               ///< of a whole number in an estimate
  float most_units;
  float matrix[64];  ///< of patches of known sides: that of all axes that are longer than a voxel
};

/// Threads of a block where each has a voxel, a patch or a coefficient of its own.
inline constexpr int kDenoiseThreads = 128;
inline constexpr int kDenoiseMostPlaces = 64;
/// Exponents of the scale, as mathematics/denoise_numbers.h has them.
inline constexpr int kDenoiseLeastExponent = -100;
inline constexpr int kDenoiseMostExponent = 126;

/// Of "fused": threads of a block.
inline constexpr int kFusedThreads = 64;
/// A stack's threads, by the places of the programs for known sides: 16 or 32; others have 32.
[[nodiscard]] constexpr int fused_lanes(int places) {
  return places == 16 ? 16 : 32;
}
/// Floats of a stack's shared memory between its numbers and what comes next: half of the banks, for the other stack
/// of a warp.
inline constexpr int kFusedApart = 16;
/// Bytes of a stack's shared memory: its numbers, those of the basic estimate, its weights, and of each place two
/// indices and a slice.
[[nodiscard]] constexpr std::int64_t fused_stack_bytes(std::int64_t voxels, std::int64_t places, bool is_wiener) {
  const std::int64_t bytes = 4 * ((is_wiener ? 2 : 1) * (voxels * (places + 1) + kFusedApart) + voxels) + 20 * places;
  return (bytes + 15) / 16 * 16;
}

}  // namespace tessera::cuda
