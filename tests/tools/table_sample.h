// Files of numbers for tests: IDX, NPY and gzip, right as long as the arguments are.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tessera::testing_support {

inline std::string four_bytes(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// `type` is IDX's: 0x08 for bytes.
inline std::string idx(std::uint32_t type, std::initializer_list<std::uint32_t> lengths, const std::string& data) {
  std::string bytes = four_bytes(type << 8 | static_cast<std::uint32_t>(lengths.size()));
  for (const std::uint32_t length : lengths) bytes += four_bytes(length);
  return bytes + data;
}

/// Any dictionary, in the padding of version 1.0.
inline std::string npy_with(std::string dictionary, const std::string& data) {
  while ((10 + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(dictionary.size() & 0xff);
  bytes += static_cast<char>(dictionary.size() >> 8);
  return bytes + dictionary + data;
}

/// As numpy writes it: npy("<f4", "(3, 2)", data).
inline std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
  return npy_with("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }", data);
}

/// The numbers as this machine stores them.
template <class T>
std::string stored(std::initializer_list<T> numbers) {
  return {reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(T)};
}

inline std::string gzip(const std::string& bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace tessera::testing_support
