// The sheet as PNG: ten rows of twenty images, each twice as large, between grey lines.
#include "tools/digits/digit_sheet.h"

#include <algorithm>
#include <vector>

#include "tools/images/png_writer.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kRows = 10;
constexpr std::size_t kColumns = 20;
constexpr std::size_t kEnlarged = 2;
constexpr std::size_t kLine = 2;  // pixels between images
constexpr std::size_t kCell = kDigitSide * kEnlarged + kLine;
constexpr std::uint8_t kLineGrey = 64;

PngLayout layout() {
  PngLayout layout;
  layout.width = static_cast<std::int64_t>(kColumns * kCell + kLine);
  layout.height = static_cast<std::int64_t>(kRows * kCell + kLine);
  return layout;
}

}  // namespace

const bool DigitSheet::kIsWritten = true;

struct DigitSheet::State {
  explicit State(const std::string& path) : writer(path, layout()), pixels(size, kLineGrey) {}

  const std::size_t width = layout().row_bytes();
  const std::size_t size = width * static_cast<std::size_t>(layout().height);
  PngWriter writer;
  std::vector<std::uint8_t> pixels;
  std::array<std::size_t, kRows> taken{};
};

DigitSheet::DigitSheet(const std::string& path) : state_(std::make_unique<State>(path)) {}

DigitSheet::~DigitSheet() = default;

void DigitSheet::add(const DigitImage& image) {
  State& state = *state_;
  std::size_t& taken = state.taken.at(image.label);
  if (taken == kColumns) return;
  const std::size_t left = taken++ * kCell + kLine;
  const std::size_t top = image.label * kCell + kLine;
  for (std::size_t y = 0; y < kDigitSide * kEnlarged; ++y) {
    for (std::size_t x = 0; x < kDigitSide * kEnlarged; ++x) {
      state.pixels[(top + y) * state.width + left + x] = image.pixels[y / kEnlarged * kDigitSide + x / kEnlarged];
    }
  }
}

void DigitSheet::finish() {
  const std::span<const std::uint8_t> pixels = state_->pixels;
  for (std::size_t first = 0; first < pixels.size(); first += state_->width) {
    state_->writer.write_row(pixels.subspan(first, state_->width));
  }
  state_->writer.finish();
}

}  // namespace tessera::tool
