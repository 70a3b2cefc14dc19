// What a denoised volume must be: all of it where that is quick to compute, else the corner at its first voxel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/compare.h"
#include "conformance/denoise/denoise_oracle.h"

namespace tessera::conformance {

template <class T>
class DenoiseReference {
 public:
  DenoiseReference(const Denoise& problem, std::span<const T> volume, std::span<const T> basic);

  /// No bound: every bit counts.
  void check(std::span<const T> result, Comparison& comparison) const;

 private:
  Denoise problem_;
  Denoise corner_;   ///< the same problem for a corner of the volume
  PerAxis checked_;  ///< voxels of the corner that do not see where it was cut off
  std::vector<T> expected_;
};

extern template class DenoiseReference<std::uint8_t>;
extern template class DenoiseReference<std::uint16_t>;
extern template class DenoiseReference<float>;

}  // namespace tessera::conformance
