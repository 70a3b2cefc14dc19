// A PNG image as a volume of one plane. Its colours are denoised, measured or shown; an alpha channel is not among the
// channels, and is carried over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/input/input_file.h"
#include "tools/volumes/volume_file.h"

namespace tessera::tool {

/// Of a file of which nothing was read. Errors as PngReader's; unavailable in a build without libpng.
[[nodiscard]] std::unique_ptr<VolumeFile> open_png_volume(std::unique_ptr<InputFile> file, std::int64_t most_pixels);

/// Writes an image of bytes, grey or of three colours, which stand one channel behind the other. Errors as PngWriter's,
/// and as above.
void write_png(const std::string& path, std::int64_t width, std::int64_t height,
               const std::vector<std::uint8_t>& pixels);

}  // namespace tessera::tool
