// How large operands may be: no larger than any address space, so that backends may multiply sizes, strides and bytes,
// and round sizes up to whole tiles, without overflow. Counted as if every size were at least 1: a problem with a size
// of 0 has no elements, but its other sizes reach the backends all the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include <tessera/types.h>

namespace tessera::detail {

/// 256 TiB: what 48 bits address, as today's processors and GPUs do for one process at most.
inline constexpr std::int64_t kLargestOperandBytes = std::int64_t{1} << 48;

/// Would an operand with so many elements, each size taken for at least 1, be larger than that?
[[nodiscard]] inline bool is_too_large(std::initializer_list<std::int64_t> sizes, DataType type) noexcept {
  auto bytes = static_cast<std::int64_t>(size_bytes(type));
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) return true;
  }
  return bytes > kLargestOperandBytes;
}

/// The product of sizes that are not too large: 0 if one of them is.
[[nodiscard]] inline std::uint64_t product(std::initializer_list<std::int64_t> sizes) noexcept {
  std::uint64_t count = 1;
  for (const std::int64_t size : sizes) count *= static_cast<std::uint64_t>(size);
  return count;
}

}  // namespace tessera::detail
