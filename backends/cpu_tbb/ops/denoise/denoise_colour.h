// Red, green and blue, and the three channels in which colours are filtered: their mean, (red - blue) / 2 and
// (red - 2 green + blue) / 4.
#pragma once

#include <cstdint>
#include <type_traits>

#include "mathematics/denoise_numbers.h"

namespace tessera::cpu_tbb {

/// The mean in the voxels' own type, by which colours are matched.
template <class T>
[[nodiscard]] T mean_of_colours(T red, T green, T blue) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return ((red + green) + blue) * (1.0F / 3.0F);
  } else {
    return static_cast<T>((static_cast<std::uint32_t>(red) + green + blue + 1) / 3);
  }
}

/// One of the channels, of scaled colours.
[[nodiscard]] inline float channel_of_colours(std::int64_t channel, float red, float green, float blue) noexcept {
  if (channel == 0) return ((red + green) + blue) * (1.0F / 3.0F);
  if (channel == 1) return (red - blue) * 0.5F;
  return ((red - green) + (blue - green)) * 0.25F;
}

/// Colours in whole units of channels in whole units, in their place.
inline void units_of_colours(std::int64_t* units) noexcept {
  const std::int64_t mean = 3 * units[0];
  const std::int64_t apart = 3 * units[1];
  const std::int64_t bend = 2 * units[2];
  units[0] = mathematics::nearest_quotient(mean + apart + bend, 3);
  units[1] = mathematics::nearest_quotient(mean - 2 * bend, 3);
  units[2] = mathematics::nearest_quotient(mean - apart + bend, 3);
}

}  // namespace tessera::cpu_tbb
