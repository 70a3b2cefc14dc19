// Strips and tiles. A band is a strip, or a row of tiles: the least that is read at a time.
#include "tools/volumes/tiff_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

constexpr std::uint32_t kMostTiffLength = 0x7fffffff;
constexpr std::uint32_t kMostTileLength = 1U << 16;

struct Codec {
  std::uint16_t number;
  /// A byte of the file unpacks to less than so many.
  std::uint64_t most_from_byte;
};
/// Those that lose nothing.
constexpr Codec kCodecs[] = {
    {COMPRESSION_NONE, 1},       {COMPRESSION_LZW, 4096},     {COMPRESSION_ADOBE_DEFLATE, 1100},
    {COMPRESSION_DEFLATE, 1100}, {COMPRESSION_PACKBITS, 128}, {COMPRESSION_ZSTD, 65536},
    {COMPRESSION_LZMA, 16384}};

const Codec* find_codec(std::uint16_t number) {
  const auto* const found =
      std::find_if(std::begin(kCodecs), std::end(kCodecs), [&](const Codec& codec) { return codec.number == number; });
  return found == std::end(kCodecs) ? nullptr : found;
}

template <class T>
T tag_value(TIFF* tiff, std::uint32_t tag, T otherwise) {
  T value = otherwise;
  return TIFFGetFieldDefaulted(tiff, tag, &value) != 0 ? value : otherwise;
}

DataType sample_type(TIFF* tiff) {
  const auto bits = tag_value<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  const auto format = tag_value<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const bool is_unsigned = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
  if (is_unsigned || format == SAMPLEFORMAT_INT) {
    switch (bits) {
      case 8: return is_unsigned ? DataType::uint8 : DataType::int8;
      case 16: return is_unsigned ? DataType::uint16 : DataType::int16;
      case 32: return is_unsigned ? DataType::uint32 : DataType::int32;
      case 64: return is_unsigned ? DataType::uint64 : DataType::int64;
      default: break;
    }
  }
  if (format == SAMPLEFORMAT_IEEEFP && bits == 32) return DataType::float32;
  if (format == SAMPLEFORMAT_IEEEFP && bits == 64) return DataType::float64;
  throw TiffRefusal{
      fmt::format("has samples of {} bits and format {}, but they must be integers of 8 to 64 bits, or "
                  "floats of 32 or 64",
                  bits, format)};
}

/// Reads bands into `samples`, which grows with them.
template <class T>
class BandReader {
 public:
  BandReader(TIFF* tiff, const TiffPage& page, const TiffStream& stream) : tiff_(tiff), page_(page), stream_(stream) {}

  std::vector<T> read() {
    for (std::uint16_t plane = 0; plane < (page_.has_planes ? page_.channels : 1); ++plane) {
      for (std::uint64_t row = 0; row < page_.height; row += page_.band_rows) {
        stop_if_interrupted();
        const auto rows = std::min<std::uint64_t>(page_.band_rows, page_.height - row);
        page_.is_tiled ? read_tiles(static_cast<std::uint32_t>(row), rows, plane)
                       : read_strip(static_cast<std::uint32_t>(row), rows, plane);
      }
    }
    return std::move(samples_);
  }

 private:
  [[nodiscard]] std::uint64_t side_by_side() const { return page_.has_planes ? 1 : page_.channels; }

  /// Refuses `count` samples that the bytes of one strip or tile cannot unpack to.
  void check_promise(std::uint32_t piece, std::uint64_t count) const {
    const std::uint64_t held =
        std::min<std::uint64_t>(TIFFGetStrileByteCount(tiff_, piece), stream_.file->size_bytes().value_or(0));
    const Codec& codec = *find_codec(page_.compression);
    if (count <= held / sizeof(T) * codec.most_from_byte + codec.most_from_byte) return;
    throw TiffRefusal{fmt::format("promises {} samples of {} in {} {}, which has {} bytes", count,
                                  to_string(data_type_of<T>), page_.is_tiled ? "tile" : "strip", piece, held)};
  }
  [[noreturn]] void refuse(std::uint32_t piece) const {
    throw TiffRefusal{
        fmt::format("is damaged in {} {} ({})", page_.is_tiled ? "tile" : "strip", piece, stream_.words.data())};
  }

  void read_strip(std::uint32_t row, std::uint64_t rows, std::uint16_t plane) {
    const std::uint32_t strip = TIFFComputeStrip(tiff_, row, plane);
    const std::uint64_t count = rows * page_.width * side_by_side();
    check_promise(strip, count);
    const std::size_t before = samples_.size();
    samples_.resize(before + count);
    const auto size = static_cast<tmsize_t>(count * sizeof(T));
    if (TIFFReadEncodedStrip(tiff_, strip, samples_.data() + before, size) != size) refuse(strip);
  }

  void read_tiles(std::uint32_t row, std::uint64_t rows, std::uint16_t plane) {
    const std::uint64_t tile_row = std::uint64_t{page_.tile_width} * side_by_side();
    const std::uint64_t count = tile_row * page_.band_rows;
    const std::uint64_t row_samples = std::uint64_t{page_.width} * side_by_side();
    // Each tile is looked at before there is room for all of them.
    for (std::uint64_t x = 0; x < page_.width; x += page_.tile_width) {
      check_promise(TIFFComputeTile(tiff_, static_cast<std::uint32_t>(x), row, 0, plane), count);
    }
    tile_.resize(count);
    const std::size_t before = samples_.size();
    samples_.resize(before + rows * row_samples);
    for (std::uint64_t x = 0; x < page_.width; x += page_.tile_width) {
      const std::uint32_t tile = TIFFComputeTile(tiff_, static_cast<std::uint32_t>(x), row, 0, plane);
      const auto size = static_cast<tmsize_t>(count * sizeof(T));
      if (TIFFReadEncodedTile(tiff_, tile, tile_.data(), size) != size) refuse(tile);
      const std::uint64_t first = x * side_by_side();
      for (std::uint64_t y = 0; y < rows; ++y) {
        std::copy_n(tile_.data() + y * tile_row, std::min(tile_row, row_samples - first),
                    samples_.data() + before + y * row_samples + first);
      }
    }
  }

  TIFF* tiff_;
  const TiffPage& page_;
  const TiffStream& stream_;
  std::vector<T> samples_;
  std::vector<T> tile_;
};

}  // namespace

TiffPage describe_page(TIFF* tiff) {
  TiffPage page;
  page.width = tag_value<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH, 0);
  page.height = tag_value<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH, 0);
  page.channels = tag_value<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  if (page.width == 0 || page.height == 0 || page.width > kMostTiffLength || page.height > kMostTiffLength) {
    throw TiffRefusal{fmt::format("has {} x {} pixels, but must have 1 to {} along each axis", page.width, page.height,
                                  kMostTiffLength)};
  }
  if (page.channels != 1 && page.channels != 3) {
    throw TiffRefusal{
        fmt::format("has {} samples a pixel, but must have 1, or 3 for red, green and blue", page.channels)};
  }
  page.photometric = tag_value<std::uint16_t>(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  const bool is_grey = page.photometric == PHOTOMETRIC_MINISBLACK || page.photometric == PHOTOMETRIC_MINISWHITE;
  if (page.channels == 1 ? !is_grey : page.photometric != PHOTOMETRIC_RGB) {
    throw TiffRefusal{
        fmt::format("has samples of TIFF's kind {} (photometric interpretation), but they must be grey or "
                    "RGB",
                    page.photometric)};
  }
  page.type = sample_type(tiff);
  page.compression = tag_value<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (find_codec(page.compression) == nullptr || TIFFIsCODECConfigured(page.compression) == 0) {
    throw TiffRefusal{
        fmt::format("is compressed by TIFF's method {}, but must be plain, or by LZW, Deflate, PackBits, "
                    "ZSTD or LZMA, as far as this libtiff has them",
                    page.compression)};
  }
  if (page.compression != COMPRESSION_NONE && page.compression != COMPRESSION_PACKBITS) {
    page.predictor = tag_value<std::uint16_t>(tiff, TIFFTAG_PREDICTOR, 1);
  }
  page.has_planes =
      tag_value<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE &&
      page.channels > 1;
  page.is_tiled = TIFFIsTiled(tiff) != 0;
  if (page.is_tiled) page.tile_width = tag_value<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH, 0);
  page.band_rows =
      tag_value<std::uint32_t>(tiff, page.is_tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, page.height);
  if (page.is_tiled && (page.tile_width == 0 || std::max(page.tile_width, page.band_rows) > kMostTileLength)) {
    throw TiffRefusal{fmt::format("has tiles of {} x {} pixels, but they must have 1 to {} along each axis",
                                  page.tile_width, page.band_rows, kMostTileLength)};
  }
  if (page.band_rows == 0) throw TiffRefusal{"has strips or tiles of 0 rows"};
  return page;
}

Voxels read_page(TIFF* tiff, const TiffPage& page, const TiffStream& stream) {
  return with_type(page.type, [&](auto number) -> Voxels {
    using T = decltype(number);
    std::vector<T> samples = BandReader<T>(tiff, page, stream).read();
    return page.channels == 3 && !page.has_planes ? apart(samples) : samples;
  });
}

}  // namespace tessera::tool
