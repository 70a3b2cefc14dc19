// Rows of numbers in one of the three types in which images are compared, and how numbers become them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <tessera/types.h>

namespace tessera::tool {

using Numbers = std::variant<std::vector<std::uint8_t>, std::vector<float>, std::vector<double>>;

/// Empty, for float32, float64 or uint8.
[[nodiscard]] inline Numbers no_numbers(DataType type) {
  if (type == DataType::uint8) return std::vector<std::uint8_t>();
  if (type == DataType::float32) return std::vector<float>();
  return std::vector<double>();
}

[[nodiscard]] inline std::size_t size_of(const Numbers& numbers) {
  return std::visit([](const auto& elements) { return elements.size(); }, numbers);
}

/// Does `number` become a T? Whole numbers from 0 to 255 become bytes; floats must be finite, before and after.
template <class T>
[[nodiscard]] bool fits(double number) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return number >= 0 && number <= 255 && number == std::floor(number);
  } else {
    return std::abs(number) <= static_cast<double>(std::numeric_limits<T>::max());
  }
}

/// What fits() asks for, for messages.
template <class T>
[[nodiscard]] constexpr std::string_view what_fits() {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return "but must hold whole numbers from 0 to 255 to be compared as uint8 (--type)";
  } else {
    return std::is_same_v<T, float> ? "but must hold finite numbers that float32 holds"
                                    : "but must hold finite numbers that float64 holds";
  }
}

}  // namespace tessera::tool
