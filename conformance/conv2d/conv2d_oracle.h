// What conv2d must give: plain loops, exact for integers, with about 106 significant bits and a derived bound for
// float. Takes the problem as the user states it, so that what the library does with flips and anchors is checked too.
// Nobody optimises this; it shares no code with any backend.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "conformance/chance.h"

namespace tessera::conformance {

/// A conv2d with its images in host memory, one behind the other.
template <class T>
struct Conv2dInputs {
  using Output = std::conditional_t<std::is_integral_v<T>, std::int32_t, float>;

  Conv2d problem;
  std::span<const T> images;
};

/// Pixel (y, x) of output `image`, and its bound for the strict algorithm. Magnitude and square are those of float.
template <class T>
[[nodiscard]] ExpectedSum conv2d_element(const Conv2dInputs<T>& inputs, std::int64_t image, std::int64_t y,
                                         std::int64_t x);

/// The bound of a pixel whose window lies in the image.
[[nodiscard]] SumBound conv2d_bound(const Conv2d& problem);

/// Over how many pixels a sum is like its neighbours' (Chance): the squares of the filter's correlation with itself,
/// summed over all ways to shift it. Some 2 for weights drawn at random, the size of the filter where all are equal.
[[nodiscard]] double conv2d_pixels_in_touch(const Conv2d& problem);

extern template ExpectedSum conv2d_element(const Conv2dInputs<std::uint8_t>&, std::int64_t, std::int64_t, std::int64_t);
extern template ExpectedSum conv2d_element(const Conv2dInputs<std::int16_t>&, std::int64_t, std::int64_t, std::int64_t);
extern template ExpectedSum conv2d_element(const Conv2dInputs<std::int32_t>&, std::int64_t, std::int64_t, std::int64_t);
extern template ExpectedSum conv2d_element(const Conv2dInputs<float>&, std::int64_t, std::int64_t, std::int64_t);

}  // namespace tessera::conformance
