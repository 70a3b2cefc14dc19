// What conv2d must give: plain loops, exact for integers, with about 106 significant bits and a derived bound for
// float. Takes the problem as the user states it, so that what the library does with flips and anchors is checked too.
// Nobody optimises this; it shares no code with any backend.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "conformance/compare.h"

namespace tessera::conformance {

/// A conv2d with its images in host memory, one behind the other.
template <class T>
struct Conv2dInputs {
  using Output = std::conditional_t<std::is_integral_v<T>, std::int32_t, float>;

  Conv2d problem;
  std::span<const T> images;
};

/// Pixel (y, x) of output `image`, and its bound for the strict algorithm.
template <class T>
[[nodiscard]] Expected conv2d_element(const Conv2dInputs<T>& inputs, std::int64_t image, std::int64_t y,
                                      std::int64_t x);

extern template Expected conv2d_element(const Conv2dInputs<std::uint8_t>&, std::int64_t, std::int64_t, std::int64_t);
extern template Expected conv2d_element(const Conv2dInputs<std::int16_t>&, std::int64_t, std::int64_t, std::int64_t);
extern template Expected conv2d_element(const Conv2dInputs<std::int32_t>&, std::int64_t, std::int64_t, std::int64_t);
extern template Expected conv2d_element(const Conv2dInputs<float>&, std::int64_t, std::int64_t, std::int64_t);

}  // namespace tessera::conformance
