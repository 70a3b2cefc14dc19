// libtiff on what this program reads and writes: a file that is read in any order, and memory that becomes a file.
// libtiff is C: what it calls here throws nothing.
#pragma once

#include <tiffio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/input/input_file.h"

namespace tessera::tool {

/// What one open file is to libtiff, and what libtiff said about it last.
struct TiffStream {
  InputFile* file = nullptr;  ///< that is read; null: `bytes` are written
  std::vector<std::uint8_t> bytes = {};
  std::uint64_t position = 0;
  bool has_no_memory = false;  ///< for `bytes`
  std::array<char, 200> words{};
};

struct CloseTiff {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

/// Null where that fails; then the stream has words. Modes are libtiff's: "r", "wl8" and so on. The stream must outlive
/// the result.
[[nodiscard]] Tiff open_tiff(TiffStream& stream, const char* mode);

/// Tags of a page that say nothing about how its samples are stored: description, resolution, and whatever else stands
/// there, private tags too. Left out are those that lead to other places of the file.
void copy_tiff_tags(TIFF* from, TIFF* to);

}  // namespace tessera::tool
