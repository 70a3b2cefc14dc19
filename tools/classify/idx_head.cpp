// The head of an IDX file.
#include <array>

#include <fmt/format.h>

#include "tools/classify/binary_table.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kMostLengths = 8;

std::uint32_t read_big_endian(ByteSource& source) {
  std::array<std::uint8_t, 4> bytes{};
  if (source.read(bytes.data(), bytes.size()) != bytes.size()) {
    source.refuse(fmt::format("ends at {}, in its head", source.place(source.position())));
  }
  std::uint32_t number = 0;
  for (const std::uint8_t byte : bytes) number = number << 8 | byte;
  return number;
}

}  // namespace

BinaryHead read_idx_head(ByteSource& source) {
  BinaryHead head{.format = "IDX", .high_byte_first = true};
  const std::uint32_t magic = read_big_endian(source);
  const auto refuse_magic = [&](const char* why) {
    source.refuse(fmt::format("begins with the magic number {:#010x}, {}", magic, why));
  };
  if (magic >> 16 != 0) refuse_magic("but IDX files begin with two bytes of 0");
  switch (magic >> 8) {
    case 0x08: head.type = DataType::uint8; break;
    case 0x09: head.type = DataType::int8; break;
    case 0x0b: head.type = DataType::int16; break;
    case 0x0c: head.type = DataType::int32; break;
    case 0x0d: head.type = DataType::float32; break;
    case 0x0e: head.type = DataType::float64; break;
    default: refuse_magic("whose third byte is none of IDX's types: 0x08, 0x09, 0x0b to 0x0e");
  }
  const std::size_t count = magic & 0xff;
  if (count == 0 || count > kMostLengths) refuse_magic("whose last byte, the number of lengths, must be 1 to 8");
  std::vector<std::uint64_t> lengths(count);
  for (std::uint64_t& length : lengths) length = read_big_endian(source);
  set_lengths(head, lengths, source);
  return head;
}

}  // namespace tessera::tool
