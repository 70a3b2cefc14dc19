// NPY as volumes: the last length of an array runs along x, and three numbers side by side are a colour.
#include <algorithm>

#include <fmt/format.h>

#include "tools/input/npy_head.h"
#include "tools/volumes/endings.h"
#include "tools/volumes/raw_volume.h"

namespace tessera::tool {

namespace {

/// numpy's letter and size: "u1".
std::string type_word(DataType type) {
  const bool is_float = type == DataType::float32 || type == DataType::float64;
  const std::string_view name = to_string(type);
  return fmt::format("{}{}", is_float ? 'f' : name.front(), size_bytes(type));
}

}  // namespace

RawHead read_npy_volume_head(ByteSource& source) {
  NpyHead npy = read_npy_head(source);
  RawHead head{.bytes = std::move(npy.bytes), .high_byte_first = npy.high_byte_first};
  head.volume.format = kNpy;
  head.volume.type = npy.type;
  if (!npy.columns_first) std::reverse(npy.lengths.begin(), npy.lengths.end());
  std::span<const std::uint64_t> lengths = npy.lengths;
  if (lengths.size() >= 3 && lengths.front() == 3) {
    head.volume.channels = 3;
    lengths = lengths.subspan(1);
  }
  set_lengths(head.volume, lengths, source);
  return head;
}

RawHead new_npy_head(DataType type, const PerAxis& size) {
  RawHead head{.volume = {.format = kNpy, .type = type, .size = size}};
  std::string dictionary = fmt::format("{{'descr': '<{}', 'fortran_order': False, 'shape': ({}, {}, {}), }}",
                                       type_word(type), size.z, size.y, size.x);
  // numpy lets the numbers begin at a multiple of 64 bytes.
  constexpr std::size_t kStartBytes = 10;
  constexpr std::size_t kAligned = 64;
  dictionary.resize((kStartBytes + dictionary.size() + kAligned) / kAligned * kAligned - kStartBytes, ' ');
  dictionary.back() = '\n';
  head.bytes = std::string("\x93NUMPY\1\0", 8);
  head.bytes += static_cast<char>(dictionary.size() & 0xff);
  head.bytes += static_cast<char>(dictionary.size() >> 8);
  head.bytes += dictionary;
  return head;
}

}  // namespace tessera::tool
