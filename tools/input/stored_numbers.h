// Numbers as files store them: in any type, in either order of bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include <tessera/types.h>

namespace tessera::tool {

/// One number as it is stored.
template <class Stored>
[[nodiscard]] Stored load_number(const std::uint8_t* bytes, bool high_byte_first) noexcept {
  std::uint8_t ordered[sizeof(Stored)];
  std::memcpy(ordered, bytes, sizeof(Stored));
  if (high_byte_first != (std::endian::native == std::endian::big)) std::reverse(ordered, ordered + sizeof(Stored));
  Stored number = 0;
  std::memcpy(&number, ordered, sizeof(Stored));
  return number;
}

/// The same way back.
template <class Stored>
void store_number(Stored number, std::uint8_t* bytes, bool high_byte_first) noexcept {
  std::memcpy(bytes, &number, sizeof(Stored));
  if (high_byte_first != (std::endian::native == std::endian::big)) std::reverse(bytes, bytes + sizeof(Stored));
}

/// Calls `body` with a number of the type, 0.
template <class Body>
decltype(auto) with_type(DataType type, const Body& body) {
  switch (type) {
    case DataType::int8: return body(std::int8_t{});
    case DataType::uint8: return body(std::uint8_t{});
    case DataType::int16: return body(std::int16_t{});
    case DataType::uint16: return body(std::uint16_t{});
    case DataType::int32: return body(std::int32_t{});
    case DataType::uint32: return body(std::uint32_t{});
    case DataType::int64: return body(std::int64_t{});
    case DataType::uint64: return body(std::uint64_t{});
    case DataType::float32: return body(float{});
    case DataType::float64: break;
  }
  return body(double{});
}

}  // namespace tessera::tool
