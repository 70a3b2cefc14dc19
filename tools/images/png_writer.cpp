// libpng behind PngWriter.
#include "tools/images/png_writer.h"

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/images/png_guard.h"
#include "tools/images/png_reader.h"
#include "tools/output/output_file.h"

namespace tessera::tool {

namespace {

int color_type(const PngLayout& layout) {
  return (layout.has_alpha() ? PNG_COLOR_MASK_ALPHA : 0) | (layout.channels > 2 ? PNG_COLOR_MASK_COLOR : 0);
}

/// What an image says about its colours. A profile or sRGB rules out the others, as the format asks.
void copy_colours(png_structp from, png_infop from_info, png_structp to, png_infop to_info) {
  png_charp name = nullptr;
  int number = 0;
  png_bytep bytes = nullptr;
  png_uint_32 size = 0;
  if (png_get_iCCP(from, from_info, &name, &number, &bytes, &size) != 0) {
    png_set_iCCP(to, to_info, name, number, bytes, size);
    return;
  }
  if (png_get_sRGB(from, from_info, &number) != 0) {
    png_set_sRGB_gAMA_and_cHRM(to, to_info, number);
    return;
  }
  png_fixed_point gamma = 0;
  if (png_get_gAMA_fixed(from, from_info, &gamma) != 0) png_set_gAMA_fixed(to, to_info, gamma);
  png_fixed_point c[8];
  if (png_get_cHRM_fixed(from, from_info, c, c + 1, c + 2, c + 3, c + 4, c + 5, c + 6, c + 7) != 0) {
    png_set_cHRM_fixed(to, to_info, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
  }
}

void copy_orientation_and_size(png_structp from, png_infop from_info, png_structp to, png_infop to_info) {
  png_uint_32 across = 0;
  png_uint_32 down = 0;
  int unit = 0;
  if (png_get_pHYs(from, from_info, &across, &down, &unit) != 0) png_set_pHYs(to, to_info, across, down, unit);
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 size = 0;
  png_bytep bytes = nullptr;
  if (png_get_eXIf_1(from, from_info, &size, &bytes) != 0) png_set_eXIf_1(to, to_info, size, bytes);
#endif
}

}  // namespace

struct PngWriter::State {
  explicit State(const std::string& path) : file(path, "the image") {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { png_destroy_write_struct(&png, &info); }

  /// Calls libpng; throws if it gives up.
  template <class Body>
  void guarded(const Body& body) {
    if (run_guarded(png, words, body)) return;
    if (file.error() != 0) file.fail();
    throw Error(ErrorCode::internal, fmt::format("libpng does not write the image: {}", words.text()));
  }

  OutputFile file;
  PngWords words;
  png_structp png = nullptr;
  png_infop info = nullptr;
};

PngWriter::PngWriter(const std::string& path, const PngLayout& layout, const PngReader* source)
    : state_(std::make_unique<State>(path)) {
  State& state = *state_;
  state.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state.words, keep_png_error, keep_png_warning);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  if (state.info == nullptr) throw Error(ErrorCode::out_of_memory, "libpng does not start");
  png_set_write_fn(
      state.png, &state.file,
      [](png_structp png, png_bytep bytes, std::size_t size) {
        if (!static_cast<OutputFile*>(png_get_io_ptr(png))->write(bytes, size)) png_error(png, "the file is full");
      },
      [](png_structp) {});
  state.guarded([&state, &layout, source] {
    png_set_user_limits(state.png, 0x7fffffff, 0x7fffffff);
    png_set_IHDR(state.png, state.info, static_cast<png_uint_32>(layout.width), static_cast<png_uint_32>(layout.height),
                 layout.sample_bytes * 8, color_type(layout), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (source != nullptr) {
      copy_colours(source->png(), source->info(), state.png, state.info);
      copy_orientation_and_size(source->png(), source->info(), state.png, state.info);
    }
    png_write_info(state.png, state.info);
  });
}

PngWriter::~PngWriter() = default;

void PngWriter::write_row(std::span<const std::uint8_t> row) {
  state_->guarded([this, row] { png_write_row(state_->png, row.data()); });
}

void PngWriter::finish() {
  state_->guarded([this] { png_write_end(state_->png, nullptr); });
  state_->file.commit();
}

}  // namespace tessera::tool
