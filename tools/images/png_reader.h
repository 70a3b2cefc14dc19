// Reading a PNG row by row, whatever its kind: palettes are looked up, samples of 1, 2 and 4 bit widened to 8, a
// transparent colour becomes an alpha channel.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tools/images/png_layout.h"

// libpng's own names, so that its header stays out of this one.
struct png_struct_def;
struct png_info_def;

namespace tessera::tool {

class InputFile;

class PngReader {
 public:
  /// Reads up to the first pixel; "-" is standard input. Error invalid_argument, in one sentence, if it cannot be read,
  /// is no PNG, is damaged or has more than `most_pixels`; Interrupted at Ctrl-C.
  PngReader(const std::string& path, std::int64_t most_pixels);
  /// The same from a file of which nothing was read.
  PngReader(std::unique_ptr<InputFile> file, std::int64_t most_pixels);
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader();

  [[nodiscard]] const PngLayout& layout() const noexcept;
  /// The next row, layout().row_bytes() long. Errors as above. An interlaced image is read whole with its first row.
  void read_row(std::span<std::uint8_t> row);
  /// Reads what follows the last row, so that a damaged end does not go unnoticed. Errors as above.
  void finish();
  /// "the image 'in.png'", for messages.
  [[nodiscard]] const std::string& name() const noexcept;

  /// For a writer that keeps what else the file says.
  [[nodiscard]] png_struct_def* png() const noexcept;
  [[nodiscard]] png_info_def* info() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::tool
