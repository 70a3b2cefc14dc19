// libtiff, as its manual has it.
#include "tiff_sample.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace tessera::testing_support {

namespace {

constexpr std::uint32_t kPrivateBytes = 65000;
constexpr std::uint32_t kPrivateDoubles = 65001;
constexpr std::uint32_t kPrivateText = 65002;

using File = std::unique_ptr<TIFF, void (*)(TIFF*)>;

void demand(bool is_right, const char* what) {
  if (!is_right) throw std::runtime_error(what);
}

/// Tags that this program does not know, told to libtiff.
void add_private_tags(TIFF* tiff) {
  static char names[][8] = {"bytes", "doubles", "text"};
  const TIFFFieldInfo infos[] = {{kPrivateBytes, -3, -3, TIFF_BYTE, FIELD_CUSTOM, 1, 1, names[0]},
                                 {kPrivateDoubles, -3, -3, TIFF_DOUBLE, FIELD_CUSTOM, 1, 1, names[1]},
                                 {kPrivateText, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, names[2]}};
  demand(TIFFMergeFieldInfo(tiff, infos, 3) == 0, "private tags");
}

void describe(TIFF* tiff, const TiffSample& sample, std::uint16_t page) {
  const std::uint8_t bytes[] = {1, 0, 255, static_cast<std::uint8_t>(page)};
  const double doubles[] = {0.1, -2e300};
  const std::uint8_t profile[] = {9, 8, 7};
  add_private_tags(tiff);
  TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, (sample.description + "\npage " + std::to_string(page)).c_str());
  TIFFSetField(tiff, TIFFTAG_SOFTWARE, "a test");
  TIFFSetField(tiff, TIFFTAG_DATETIME, "2026:11:23 10:00:00");
  TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 0.25);
  TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 4.5);
  TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
  TIFFSetField(tiff, TIFFTAG_XPOSITION, 3.0);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_BOTRIGHT);
  TIFFSetField(tiff, TIFFTAG_PAGENUMBER, page, sample.pages);
  TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
  TIFFSetField(tiff, TIFFTAG_ICCPROFILE, 3, profile);
  TIFFSetField(tiff, kPrivateBytes, 4, bytes);
  TIFFSetField(tiff, kPrivateDoubles, 2, doubles);
  TIFFSetField(tiff, kPrivateText, "secret");
}

void write_pixels(TIFF* tiff, const TiffSample& sample, std::string page) {
  const std::size_t planes = sample.has_planes ? sample.channels : 1;
  const std::size_t pixel = sample.channels / planes * sample.bits / 8;
  const std::size_t row_bytes = sample.width * pixel;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    char* const begin = page.data() + plane * row_bytes * sample.height;
    if (sample.tile == 0) {
      for (std::uint32_t row = 0; row < sample.height; ++row) {
        demand(TIFFWriteScanline(tiff, begin + row * row_bytes, row, static_cast<std::uint16_t>(plane)) == 1, "a row");
      }
      continue;
    }
    for (std::uint32_t top = 0; top < sample.height; top += sample.tile) {
      for (std::uint32_t left = 0; left < sample.width; left += sample.tile) {
        std::string tile(sample.tile * sample.tile * pixel, '\x55');
        for (std::uint32_t y = top; y < std::min(top + sample.tile, sample.height); ++y) {
          std::copy_n(begin + y * row_bytes + left * pixel, std::min(sample.tile, sample.width - left) * pixel,
                      tile.data() + (y - top) * sample.tile * pixel);
        }
        demand(TIFFWriteTile(tiff, tile.data(), left, top, 0, static_cast<std::uint16_t>(plane)) > 0, "a tile");
      }
    }
  }
}

template <class T>
void tell(std::ostream& text, TIFF* tiff, const char* name, std::uint32_t tag) {
  T value{};
  if (TIFFGetField(tiff, tag, &value) != 0) text << name << " " << value << "\n";
}

template <class T>
void tell_many(std::ostream& text, TIFF* tiff, const char* name, std::uint32_t tag) {
  std::uint32_t count = 0;
  const T* values = nullptr;
  if (TIFFGetField(tiff, tag, &count, &values) == 0) return;
  text << name;
  for (std::uint32_t i = 0; i < count; ++i) text << " " << +values[i];
  text << "\n";
}

std::string tags_of(TIFF* tiff) {
  std::ostringstream text;
  text << (TIFFIsBigEndian(tiff) != 0 ? "big" : "little") << "-endian\n";
  tell<std::uint16_t>(text, tiff, "bits", TIFFTAG_BITSPERSAMPLE);
  tell<std::uint16_t>(text, tiff, "channels", TIFFTAG_SAMPLESPERPIXEL);
  tell<std::uint16_t>(text, tiff, "format", TIFFTAG_SAMPLEFORMAT);
  tell<std::uint16_t>(text, tiff, "photometric", TIFFTAG_PHOTOMETRIC);
  tell<std::uint16_t>(text, tiff, "planes", TIFFTAG_PLANARCONFIG);
  tell<std::uint16_t>(text, tiff, "compression", TIFFTAG_COMPRESSION);
  tell<std::uint16_t>(text, tiff, "predictor", TIFFTAG_PREDICTOR);
  tell<const char*>(text, tiff, "description", TIFFTAG_IMAGEDESCRIPTION);
  tell<const char*>(text, tiff, "software", TIFFTAG_SOFTWARE);
  tell<const char*>(text, tiff, "date", TIFFTAG_DATETIME);
  tell<float>(text, tiff, "x resolution", TIFFTAG_XRESOLUTION);
  tell<float>(text, tiff, "y resolution", TIFFTAG_YRESOLUTION);
  tell<std::uint16_t>(text, tiff, "unit", TIFFTAG_RESOLUTIONUNIT);
  tell<float>(text, tiff, "x position", TIFFTAG_XPOSITION);
  tell<std::uint16_t>(text, tiff, "orientation", TIFFTAG_ORIENTATION);
  tell<std::uint32_t>(text, tiff, "kind", TIFFTAG_SUBFILETYPE);
  std::uint16_t page = 0, pages = 0;
  if (TIFFGetField(tiff, TIFFTAG_PAGENUMBER, &page, &pages) != 0) text << "page " << page << " of " << pages << "\n";
  tell_many<std::uint8_t>(text, tiff, "profile", TIFFTAG_ICCPROFILE);
  tell_many<std::uint8_t>(text, tiff, "bytes", kPrivateBytes);
  tell_many<double>(text, tiff, "doubles", kPrivateDoubles);
  tell_many<char>(text, tiff, "text", kPrivateText);  // libtiff read it before it was told what it is
  return text.str();
}

}  // namespace

void write_tiff(const TiffSample& sample, const std::string& path) {
  const File file(TIFFOpen(path.c_str(), sample.mode.c_str()), TIFFClose);
  demand(file != nullptr, "a new TIFF");
  for (std::uint16_t page = 0; page < sample.pages; ++page) {
    TIFFSetField(file.get(), TIFFTAG_IMAGEWIDTH, sample.width);
    TIFFSetField(file.get(), TIFFTAG_IMAGELENGTH, sample.height);
    TIFFSetField(file.get(), TIFFTAG_SAMPLESPERPIXEL, sample.channels);
    TIFFSetField(file.get(), TIFFTAG_BITSPERSAMPLE, sample.bits);
    TIFFSetField(file.get(), TIFFTAG_SAMPLEFORMAT, sample.format);
    TIFFSetField(file.get(), TIFFTAG_PHOTOMETRIC, sample.photometric);
    TIFFSetField(file.get(), TIFFTAG_PLANARCONFIG, sample.has_planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    TIFFSetField(file.get(), TIFFTAG_COMPRESSION, sample.compression);
    if (sample.predictor != 1) TIFFSetField(file.get(), TIFFTAG_PREDICTOR, sample.predictor);
    if (sample.tile == 0) {
      TIFFSetField(file.get(), TIFFTAG_ROWSPERSTRIP, sample.rows_per_strip);
    } else {
      TIFFSetField(file.get(), TIFFTAG_TILEWIDTH, sample.tile);
      TIFFSetField(file.get(), TIFFTAG_TILELENGTH, sample.tile);
    }
    if (sample.is_described) describe(file.get(), sample, page);
    if (!sample.is_described && page == 0) {
      TIFFSetField(file.get(), TIFFTAG_IMAGEDESCRIPTION, sample.description.c_str());
    }
    write_pixels(file.get(), sample, sample.bytes.substr(page * sample.page_bytes(), sample.page_bytes()));
    demand(TIFFWriteDirectory(file.get()) == 1, "a page");
  }
}

TiffContent read_tiff(const std::string& path) {
  const File file(TIFFOpen(path.c_str(), "rc"), TIFFClose);
  demand(file != nullptr, "a TIFF");
  TiffContent content;
  do {
    content.tags.push_back(tags_of(file.get()));
    for (std::uint32_t strip = 0; strip < TIFFNumberOfStrips(file.get()); ++strip) {
      std::string bytes(static_cast<std::size_t>(TIFFStripSize(file.get())), '\0');
      const tmsize_t size = TIFFReadEncodedStrip(file.get(), strip, bytes.data(), static_cast<tmsize_t>(bytes.size()));
      demand(size >= 0, "a strip");
      content.bytes += bytes.substr(0, static_cast<std::size_t>(size));
    }
  } while (TIFFReadDirectory(file.get()) != 0);
  return content;
}

}  // namespace tessera::testing_support
