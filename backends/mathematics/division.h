// Division that rounds up, by which work is cut into equal pieces.
#pragma once

#include <type_traits>

namespace tessera::mathematics {

/// How many pieces of `size` hold `count`. Integers from 0 and from 1 on; no sum inside overflows.
template <class Integer>
[[nodiscard]] constexpr Integer ceil_div(Integer count, std::type_identity_t<Integer> size) noexcept {
  return count / size + (count % size != 0 ? 1 : 0);
}

/// The smallest multiple of `size` that is not less than `count`.
template <class Integer>
[[nodiscard]] constexpr Integer round_up(Integer count, std::type_identity_t<Integer> size) noexcept {
  return ceil_div(count, size) * size;
}

}  // namespace tessera::mathematics
