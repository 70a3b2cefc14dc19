// A number for each axis, in the front half: walked over, written down and checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tessera/ops/patch_match.h>

#include "../refuse.h"
#include "backend/sentence.h"

namespace tessera::detail {

inline constexpr std::array kAxes{&PerAxis::x, &PerAxis::y, &PerAxis::z};
inline constexpr std::array kAxisNames{'x', 'y', 'z'};

/// "352 x 240 x 150".
[[nodiscard]] inline std::string text_of(const PerAxis& numbers) {
  return backend::sentence(numbers.x, " x ", numbers.y, " x ", numbers.z);
}

/// Refuses a number below 1 along any axis.
inline void check_axes(std::string_view op, std::string_view name, const PerAxis& numbers) {
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const std::int64_t number = numbers.*kAxes[axis];
    if (number < 1)
      refuse(backend::sentence(name, ".", kAxisNames[axis], " of ", op, " is ", number, ", but must be at least 1"));
  }
}

}  // namespace tessera::detail
