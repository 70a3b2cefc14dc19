// Writing a PNG row by row, to a file that is there whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tools/images/png_layout.h"

namespace tessera::tool {

class PngReader;

class PngWriter {
 public:
  /// Opens the file, "-" is standard output, and writes its head. Of `source`, if there is one, it keeps what decides
  /// how pixels look: gamma, primaries, colour profile, pixel size and the orientation in Exif. Errors as OutputFile's.
  PngWriter(const std::string& path, const PngLayout& layout, const PngReader* source = nullptr);
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
  /// Leaves no file behind, unless finish() was called.
  ~PngWriter();

  /// The next row, layout.row_bytes() long.
  void write_row(std::span<const std::uint8_t> row);
  /// After the last row: completes the file and gives it its name.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::tool
