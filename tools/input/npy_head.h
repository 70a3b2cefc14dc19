// The head of an NPY file, as numpy.save writes it: a magic word, a version, and a dictionary in Python's notation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/types.h>

#include "tools/input/byte_source.h"

namespace tessera::tool {

struct NpyHead {
  std::string bytes;  ///< all of it, as the file has it
  DataType type = DataType::uint8;
  bool high_byte_first = false;
  bool columns_first = false;          ///< fortran_order: the first index runs along what lies side by side
  std::uint64_t order_end = 0;         ///< the byte behind the word that says so
  std::vector<std::uint64_t> lengths;  ///< at least one
};

/// Reads up to the first number. Error invalid_argument, with the place, for what is no such head; for a single number,
/// which has no lengths; and for types other than integers of 1 to 8 bytes, float32 and float64.
[[nodiscard]] NpyHead read_npy_head(ByteSource& source);

}  // namespace tessera::tool
