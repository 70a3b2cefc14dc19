// What a denoised volume must be: all of it where that is quick to compute, else the corners at its first and its last
// voxel. Whatever computes by pieces has whole ones at one and what is left at the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/compare.h"
#include "conformance/denoise/denoise_oracle.h"

namespace tessera::conformance {

/// Differences of voxels that the oracle may compute for a whole volume: some seconds on one core.
inline constexpr double kMostOracleDifferences = 3e9;

template <class T>
class DenoiseReference {
 public:
  DenoiseReference(const Denoise& problem, std::span<const T> volume, std::span<const T> basic,
                   double most_differences = kMostOracleDifferences);

  /// No bound: every bit counts.
  void check(std::span<const T> result, Comparison& comparison) const;

 private:
  /// A part of the volume, or all of it.
  struct Corner {
    Denoise problem;            ///< the same for this part alone
    PerAxis first{0, 0, 0};     ///< where it lies
    PerAxis unharmed{0, 0, 0};  ///< of its own voxels the first that does not see where it was cut off
    PerAxis checked;            ///< and how many there are
    std::vector<T> expected;
  };
  [[nodiscard]] Corner corner(bool is_last) const;
  void check(const Corner& corner, std::span<const T> result, Comparison& comparison) const;

  Denoise problem_;
  std::vector<Corner> corners_;
};

extern template class DenoiseReference<std::uint8_t>;
extern template class DenoiseReference<std::uint16_t>;
extern template class DenoiseReference<float>;

}  // namespace tessera::conformance
