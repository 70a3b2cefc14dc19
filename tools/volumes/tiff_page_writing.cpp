// A page as it is written: in strips, with the same compression as the page that it stands for.
#include <algorithm>

#include "tools/process/interrupt.h"
#include "tools/volumes/tiff_page.h"

namespace tessera::tool {

namespace {

bool set_tags(TIFF* tiff, const TiffPage& page) {
  const bool is_float = page.type == DataType::float32 || page.type == DataType::float64;
  const bool is_signed = !is_float && to_string(page.type).front() == 'i';
  const int format = is_float ? SAMPLEFORMAT_IEEEFP : is_signed ? SAMPLEFORMAT_INT : SAMPLEFORMAT_UINT;
  const int planes = page.has_planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG;
  bool all = TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, page.width) != 0;
  all = all && TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, page.height) != 0;
  all = all && TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_bytes(page.type))) != 0;
  all = all && TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(page.channels)) != 0;
  all = all && TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format) != 0;
  all = all && TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, static_cast<int>(page.photometric)) != 0;
  all = all && TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, planes) != 0;
  all = all && TIFFSetField(tiff, TIFFTAG_COMPRESSION, static_cast<int>(page.compression)) != 0;
  if (page.predictor != 1) all = all && TIFFSetField(tiff, TIFFTAG_PREDICTOR, static_cast<int>(page.predictor)) != 0;
  return all;
}

template <class T>
bool write_strips(TIFF* tiff, const TiffPage& page, std::uint32_t band_rows, const std::vector<T>& samples) {
  const std::size_t pixels = std::size_t{page.width} * page.height;
  const std::size_t planes = page.has_planes ? page.channels : 1;
  const std::size_t side_by_side = page.channels / planes;
  std::vector<T> strip;
  std::uint32_t number = 0;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    for (std::size_t row = 0; row < page.height; row += band_rows, ++number) {
      stop_if_interrupted();
      const std::size_t first = row * page.width;
      const std::size_t count = std::min<std::size_t>(band_rows, page.height - row) * page.width;
      strip.resize(count * side_by_side);  // libtiff may swap the bytes of what it is given
      for (std::size_t i = 0; i < strip.size(); ++i) {
        strip[i] = samples[(plane + i % side_by_side) * pixels + first + i / side_by_side];
      }
      const auto size = static_cast<tmsize_t>(strip.size() * sizeof(T));
      if (TIFFWriteEncodedStrip(tiff, number, strip.data(), size) != size) return false;
    }
  }
  return true;
}

}  // namespace

bool write_page(TIFF* tiff, const TiffPage& page, const Voxels& samples) {
  if (!set_tags(tiff, page)) return false;
  // Tiles become strips of the usual size.
  const std::uint32_t band_rows =
      page.is_tiled || page.band_rows == 0 ? TIFFDefaultStripSize(tiff, 0) : std::min(page.band_rows, page.height);
  if (TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, band_rows) == 0) return false;
  const auto write = [&](const auto& numbers) { return write_strips(tiff, page, band_rows, numbers); };
  return std::visit(write, samples) && TIFFWriteDirectory(tiff) != 0;
}

}  // namespace tessera::tool
