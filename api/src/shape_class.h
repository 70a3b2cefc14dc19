// A class of shape as text: "type=float32,transpose_a=0,m~1024". What kernels are compiled for stands there as it is;
// sizes that loops run over as the power of two that is nearest by ratio, so that a class spans a factor of two.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "backend/sentence.h"

namespace tessera::detail {

/// The power of two p with size / p in [1 / sqrt(2), sqrt(2)); 0 for sizes below 1.
[[nodiscard]] constexpr std::uint64_t nearest_power_of_two(std::int64_t size) noexcept {
  if (size < 1) return 0;
  constexpr double kRootOfTwo = 1.4142135623730951;
  const std::uint64_t below = std::bit_floor(static_cast<std::uint64_t>(size));
  return static_cast<double>(size) < kRootOfTwo * static_cast<double>(below) ? below : 2 * below;
}

class ShapeClass {
 public:
  template <class Value>
  ShapeClass& exactly(std::string_view name, const Value& value) {
    text_ += backend::sentence(text_.empty() ? "" : ",", name, "=", value);
    return *this;
  }
  ShapeClass& about(std::string_view name, std::int64_t size) {
    text_ += backend::sentence(text_.empty() ? "" : ",", name, "~", nearest_power_of_two(size));
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace tessera::detail
