// libpng with exceptions: what fails in a test may leak.
#include "png_sample.h"

#include <png.h>

#include <cstring>
#include <random>
#include <stdexcept>

namespace tessera::testing_support {

namespace {

[[noreturn]] void fail(png_structp /*png*/, png_const_charp text) {
  throw std::runtime_error(text);
}
void ignore(png_structp /*png*/, png_const_charp /*text*/) {}

void set_extras(png_structp png, png_infop info, const PngSample& sample) {
  if (sample.color_type == PNG_COLOR_TYPE_PALETTE) {
    std::vector<png_color> palette;
    std::vector<png_byte> alphas;
    for (unsigned index = 0; index < 1U << sample.depth; ++index) {
      const auto entry = palette_entry(index);
      palette.push_back({entry[0], entry[1], entry[2]});
      alphas.push_back(entry[3]);
    }
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
    if (sample.transparent) png_set_tRNS(png, info, alphas.data(), static_cast<int>(alphas.size()), nullptr);
  } else if (sample.transparent) {
    png_color_16 colour = {0, 1, 1, 1, 1};
    png_set_tRNS(png, info, nullptr, 0, &colour);
  }
  if (sample.described) {
    png_set_gAMA_fixed(png, info, 50000);
    png_set_pHYs(png, info, 3000, 4000, PNG_RESOLUTION_METER);
    png_text text = {};
    text.compression = PNG_TEXT_COMPRESSION_NONE;
    char key[] = "Comment";
    char words[] = "a sample";
    text.key = key;
    text.text = words;
    png_set_text(png, info, &text, 1);
  }
}

}  // namespace

int PngSample::channels() const {
  if (color_type == PNG_COLOR_TYPE_PALETTE) return 1;
  return ((color_type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1) + ((color_type & PNG_COLOR_MASK_ALPHA) != 0 ? 1 : 0);
}

std::size_t PngSample::row_bytes() const {
  return (static_cast<std::size_t>(width) * static_cast<std::size_t>(channels() * depth) + 7) / 8;
}

unsigned PngSample::sample(std::uint32_t y, std::uint32_t x, int channel) const {
  const std::uint8_t* const row = bytes.data() + y * row_bytes();
  const std::size_t index = static_cast<std::size_t>(x) * static_cast<std::size_t>(channels()) + channel;
  if (depth == 16) return row[2 * index] * 256U + row[2 * index + 1];
  const std::size_t bit = index * static_cast<std::size_t>(depth);
  return (static_cast<unsigned>(row[bit / 8]) >> (8 - depth - bit % 8)) & ((1U << depth) - 1);
}

std::vector<std::uint8_t> palette_entry(unsigned index) {
  const auto byte = [&](unsigned factor) { return static_cast<std::uint8_t>(index * factor + 5); };
  return {byte(83), byte(151), byte(201), byte(101)};
}

void fill_noise(PngSample& sample, std::uint32_t seed) {
  std::minstd_rand random(seed);
  sample.bytes.resize(sample.row_bytes() * sample.height);
  for (std::uint8_t& byte : sample.bytes) byte = static_cast<std::uint8_t>(random() >> 8);
}

std::string encode(const PngSample& sample) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, fail, ignore);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp writer, png_bytep bytes, std::size_t size) {
        static_cast<std::string*>(png_get_io_ptr(writer))->append(reinterpret_cast<const char*>(bytes), size);
      },
      nullptr);
  png_set_IHDR(png, info, sample.width, sample.height, sample.depth, sample.color_type,
               sample.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  set_extras(png, info, sample);
  png_write_info(png, info);
  const int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::uint32_t y = 0; y < sample.height; ++y) png_write_row(png, sample.bytes.data() + y * sample.row_bytes());
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

PngSample decode(const std::string& file) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, fail, ignore);
  png_infop info = png_create_info_struct(png);
  std::string rest = file;
  png_set_read_fn(png, &rest, [](png_structp reader, png_bytep target, std::size_t size) {
    auto& bytes = *static_cast<std::string*>(png_get_io_ptr(reader));
    if (bytes.size() < size) png_error(reader, "the file ends");
    std::memcpy(target, bytes.data(), size);
    bytes.erase(0, size);
  });
  png_read_info(png, info);
  PngSample sample;
  int interlace = 0;
  png_get_IHDR(png, info, &sample.width, &sample.height, &sample.depth, &sample.color_type, &interlace, nullptr,
               nullptr);
  sample.interlaced = interlace != PNG_INTERLACE_NONE;
  sample.bytes.resize(sample.row_bytes() * sample.height);
  for (std::uint32_t y = 0; y < sample.height; ++y) {
    png_read_row(png, sample.bytes.data() + y * sample.row_bytes(), nullptr);
  }
  png_read_end(png, info);
  png_fixed_point gamma = 0;
  png_uint_32 across = 0;
  png_uint_32 down = 0;
  int unit = 0;
  sample.described = png_get_gAMA_fixed(png, info, &gamma) != 0 && gamma == 50000 &&
                     png_get_pHYs(png, info, &across, &down, &unit) != 0 && across == 3000 && down == 4000;
  png_destroy_read_struct(&png, &info, nullptr);
  return sample;
}

Samples expanded(const PngSample& sample) {
  Samples result;
  const bool is_palette = sample.color_type == PNG_COLOR_TYPE_PALETTE;
  result.largest = sample.depth == 16 ? 65535 : 255;
  result.channels = (is_palette ? 3 : sample.channels()) + (sample.transparent ? 1 : 0);
  // A grey value of 1, 2 or 4 bit is spread over 0 to 255.
  const unsigned spread = sample.depth < 8 && !is_palette ? 255 / ((1U << sample.depth) - 1) : 1;
  for (std::uint32_t y = 0; y < sample.height; ++y) {
    for (std::uint32_t x = 0; x < sample.width; ++x) {
      if (is_palette) {
        const auto entry = palette_entry(sample.sample(y, x, 0));
        result.numbers.insert(result.numbers.end(), entry.begin(), entry.begin() + result.channels);
        continue;
      }
      bool is_colour_1 = true;
      for (int channel = 0; channel < sample.channels(); ++channel) {
        is_colour_1 = is_colour_1 && sample.sample(y, x, channel) == 1;
        result.numbers.push_back(sample.sample(y, x, channel) * spread);
      }
      if (sample.transparent) result.numbers.push_back(is_colour_1 ? 0 : result.largest);
    }
  }
  return result;
}

}  // namespace tessera::testing_support
