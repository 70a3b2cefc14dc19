// libpng behind PngReader. The files that it reads may be hostile: sizes are checked before memory is taken, and no
// chunk grows beyond what is allowed here.
#include "tools/images/png_reader.h"

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/images/png_guard.h"
#include "tools/input/input_file.h"
#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kSignatureBytes = 8;
constexpr png_uint_32 kLargestExtent = 0x7fffffff;        // what the format allows
constexpr png_alloc_size_t kLargestChunk = 16U << 20;     // a profile, unpacked
constexpr std::uint64_t kLargestInterlaced = 1ULL << 30;  // bytes of pixels
constexpr std::uint64_t kLargestRow = 1ULL << 28;         // bytes of pixels
/// Chunks that are not kept are not unpacked either. libpng wants five bytes a name.
constexpr png_byte kSkippedChunks[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST\0bKGD\0pCAL\0sCAL\0tIME\0oFFs\0sBIT";

}  // namespace

struct PngReader::State {
  explicit State(std::unique_ptr<InputFile> input) : kept(std::move(input)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { png_destroy_read_struct(&png, &info, nullptr); }

  /// Calls libpng; throws if it gives up.
  template <class Body>
  void guarded(const Body& body) {
    if (run_guarded(png, words, body)) return;
    stop_if_interrupted();
    if (file.error() != 0) refuse(fmt::format("cannot be read: {}", std::strerror(file.error())));
    if (ended) refuse("ends too early: it is cut off");
    refuse(fmt::format("is damaged: {}", words.text()));
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", file.name(), why));
  }
  void start();
  void check_size(std::int64_t most_pixels) const;
  void expand();
  void read_interlaced();

  std::unique_ptr<InputFile> kept;
  InputFile& file = *kept;
  PngWords words;
  png_structp png = nullptr;
  png_infop info = nullptr;
  PngLayout layout;
  bool ended = false;
  bool interlaced = false;
  std::vector<std::uint8_t> whole;  ///< of an interlaced image, once it was read
  std::int64_t rows_read = 0;
};

void PngReader::State::start() {
  std::uint8_t signature[kSignatureBytes];
  const std::size_t count = file.read(signature, kSignatureBytes);
  stop_if_interrupted();
  if (count == 0 && file.error() == 0) refuse("is empty");
  if (file.error() != 0) refuse(fmt::format("cannot be read: {}", std::strerror(file.error())));
  if (png_sig_cmp(signature, 0, count) != 0) refuse("is no PNG");
  if (count < kSignatureBytes) refuse("ends too early: it is cut off");

  png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &words, keep_png_error, keep_png_warning);
  if (png != nullptr) info = png_create_info_struct(png);
  if (info == nullptr) throw Error(ErrorCode::out_of_memory, "libpng does not start");
  png_set_read_fn(png, this, [](png_structp reader, png_bytep target, std::size_t size) {
    auto& state = *static_cast<State*>(png_get_io_ptr(reader));
    if (state.file.read(target, size) == size) return;
    state.ended = true;
    png_error(reader, "the file ends");
  });
  guarded([this] {
    png_set_sig_bytes(png, kSignatureBytes);
    png_set_user_limits(png, kLargestExtent, kLargestExtent);
    png_set_chunk_malloc_max(png, kLargestChunk);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kSkippedChunks, sizeof kSkippedChunks / 5);
    png_read_info(png, info);
  });
}

/// Before libpng takes memory for rows.
void PngReader::State::check_size(std::int64_t most_pixels) const {
  const std::uint64_t width = png_get_image_width(png, info);
  const std::uint64_t height = png_get_image_height(png, info);
  if (width * height > static_cast<std::uint64_t>(most_pixels)) {
    refuse(fmt::format("has {} x {} pixels, but must have at most {} (--max-pixels)", width, height, most_pixels));
  }
  // Four channels, as they may be once they are expanded.
  const std::uint64_t row_bytes = width * (png_get_bit_depth(png, info) == 16 ? 8 : 4);
  if (row_bytes > kLargestRow) {
    refuse(fmt::format("is {} pixels wide, but must have rows of at most {} bytes", width, kLargestRow));
  }
  if (png_get_interlace_type(png, info) != PNG_INTERLACE_NONE && row_bytes * height > kLargestInterlaced) {
    refuse(fmt::format("is interlaced and has {} x {} pixels: it must be held whole, and may take at most {} bytes",
                       width, height, kLargestInterlaced));
  }
}

void PngReader::State::expand() {
  guarded([this] {
    png_set_expand(png);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
  });
  layout.width = png_get_image_width(png, info);
  layout.height = png_get_image_height(png, info);
  layout.channels = png_get_channels(png, info);
  layout.sample_bytes = png_get_bit_depth(png, info) / 8;
  interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
  if (png_get_rowbytes(png, info) != layout.row_bytes()) {
    throw Error(ErrorCode::internal, fmt::format("libpng expands {} to rows of {} bytes, not {}", file.name(),
                                                 png_get_rowbytes(png, info), layout.row_bytes()));
  }
}

void PngReader::State::read_interlaced() {
  whole.resize(layout.row_bytes() * static_cast<std::size_t>(layout.height));
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
    for (std::int64_t y = 0; y < layout.height; ++y) {
      stop_if_interrupted();
      std::uint8_t* const row = whole.data() + static_cast<std::size_t>(y) * layout.row_bytes();
      guarded([this, row] { png_read_row(png, row, nullptr); });
    }
  }
}

PngReader::PngReader(const std::string& path, std::int64_t most_pixels)
    : PngReader(std::make_unique<InputFile>(path, "the image"), most_pixels) {}

PngReader::PngReader(std::unique_ptr<InputFile> file, std::int64_t most_pixels)
    : state_(std::make_unique<State>(std::move(file))) {
  state_->start();
  state_->check_size(most_pixels);
  state_->expand();
}

PngReader::~PngReader() = default;

const PngLayout& PngReader::layout() const noexcept {
  return state_->layout;
}

void PngReader::read_row(std::span<std::uint8_t> row) {
  State& state = *state_;
  if (!state.interlaced) {
    state.guarded([&state, row] { png_read_row(state.png, row.data(), nullptr); });
    return;
  }
  if (state.whole.empty()) state.read_interlaced();
  std::memcpy(row.data(), state.whole.data() + static_cast<std::size_t>(state.rows_read++) * row.size(), row.size());
}

void PngReader::finish() {
  state_->guarded([this] { png_read_end(state_->png, nullptr); });
}

const std::string& PngReader::name() const noexcept {
  return state_->file.name();
}

png_struct_def* PngReader::png() const noexcept {
  return state_->png;
}

png_info_def* PngReader::info() const noexcept {
  return state_->info;
}

}  // namespace tessera::tool
