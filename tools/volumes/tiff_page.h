// One page of a TIFF file: how its samples are stored, and reading and writing them.
#pragma once

#include <cstdint>
#include <string>

#include "tools/volumes/tiff_stream.h"
#include "tools/volumes/voxels.h"

namespace tessera::tool {

struct TiffPage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t channels = 1;
  DataType type = DataType::uint8;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t predictor = 1;
  bool is_tiled = false;
  bool has_planes = false;  ///< each channel apart, not side by side in a pixel
  std::uint32_t tile_width = 0;
  std::uint32_t band_rows = 0;  ///< of a strip or a tile

  /// Volumes are made of pages that are alike in these.
  [[nodiscard]] bool is_like(const TiffPage& other) const noexcept {
    return width == other.width && height == other.height && channels == other.channels && type == other.type;
  }
};

/// A page that cannot be read: what is wrong, to stand behind "page 3 ".
struct TiffRefusal {
  std::string why;
};

/// What the directory says that libtiff stands at. Throws TiffRefusal for kinds of pages that are not read.
[[nodiscard]] TiffPage describe_page(TIFF* tiff);

/// Its samples, channel behind channel. Throws TiffRefusal for pages that are damaged, or promise much more than their
/// bytes can hold; Interrupted after Ctrl-C.
[[nodiscard]] Voxels read_page(TIFF* tiff, const TiffPage& page, const TiffStream& stream);

/// Writes a page in strips, and the tags that say how, behind the others. False if libtiff does not.
[[nodiscard]] bool write_page(TIFF* tiff, const TiffPage& page, const Voxels& samples);

}  // namespace tessera::tool
