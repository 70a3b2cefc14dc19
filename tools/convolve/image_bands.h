// An image cut into bands of rows, as a device takes it: each byte of each channel is an image of its own, with what
// lies beyond the edges already around it.
//
//     pixels of a 16-bit colour image        planes                                 each plane with its margins
//     R R  G G  B B | R R  G G  B B          0: R's high byte   2: G's   4: B's         top margin (first band alone)
//     high low                               1: R's low byte    3: G's   5: B's    left | band of rows | right
//                                                                                       first rows of the next band,
//                                                                                       or the lower margin
//
// The rows under the filter at the end of a band are the first rows of the next band. Planes are of 8 bits because sums
// over these are exact in int32 for far larger filters than sums over 16-bit pixels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <tessera/tessera.h>

#include "tools/images/png_layout.h"

namespace tessera::tool {

/// What stands beyond an image's edges.
enum class ImageBorder : std::uint8_t {
  mirror,  ///< the image again, mirrored at its edge
  same,    ///< zeros, as in tessera::Border::same
  valid,   ///< nothing: the output is smaller, as in tessera::Border::valid
};

struct BandPlan {
  PngLayout image;
  ImageBorder border = ImageBorder::mirror;
  std::int64_t filter_height = 1;
  std::int64_t filter_width = 1;
  std::int64_t anchor_y = 0;  ///< the filter's element that lies on the output's pixel
  std::int64_t anchor_x = 0;
  int convolved_channels = 1;  ///< the first ones; a last one that is left is copied

  std::int64_t rows = 1;  ///< of output a band; the last band may have fewer

  [[nodiscard]] bool has_margin() const noexcept { return border != ImageBorder::valid; }
  [[nodiscard]] std::int64_t output_height() const noexcept {
    return has_margin() ? image.height : image.height - filter_height + 1;
  }
  [[nodiscard]] std::int64_t output_width() const noexcept {
    return has_margin() ? image.width : image.width - filter_width + 1;
  }
  [[nodiscard]] std::int64_t top() const noexcept { return has_margin() ? anchor_y : 0; }
  [[nodiscard]] std::int64_t left() const noexcept { return has_margin() ? anchor_x : 0; }
  [[nodiscard]] std::int64_t padded_rows() const noexcept { return rows + filter_height - 1; }
  [[nodiscard]] std::int64_t padded_width() const noexcept { return output_width() + filter_width - 1; }
  [[nodiscard]] int planes() const noexcept { return image.pixel_bytes(); }
  [[nodiscard]] int convolved_planes() const noexcept { return convolved_channels * image.sample_bytes; }
  /// Elements of one plane of a band, and of its sums.
  [[nodiscard]] std::size_t plane_size() const noexcept {
    return static_cast<std::size_t>(padded_rows()) * static_cast<std::size_t>(padded_width());
  }
  [[nodiscard]] std::size_t sums_size() const noexcept {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(output_width());
  }
};

/// Bytes of a band's sums: large enough to keep a GPU busy, small enough to answer Ctrl-C and to stay in memory.
constexpr std::int64_t kBandBytes = 32LL << 20;

/// Chooses the rows of a band so that the sums of `parts` filters take about `band_bytes`. Error invalid_argument if
/// the filter is larger than the image but must lie inside, or if even the smallest band is too large; `name` is the
/// image's.
void choose_rows(BandPlan& plan, std::size_t parts, std::int64_t band_bytes, const std::string& name);

/// The planes of one band after the other.
class ImageBands {
 public:
  /// Memory that `device` copies from at full speed.
  ImageBands(const Device& device, const BandPlan& plan);

  /// Makes the band whose first row of output is `first_row`, a multiple of the plan's rows; bands come in order.
  /// `next_row` writes the image's next row.
  void fill(std::int64_t first_row, const std::function<void(std::span<std::uint8_t>)>& next_row);

  /// The planes to convolve, one behind the other.
  [[nodiscard]] const PinnedBuffer<std::uint8_t>& convolved() const noexcept { return convolved_; }
  /// Row `row` of output of a plane that is only copied.
  [[nodiscard]] const std::uint8_t* copied_row(int plane, std::int64_t row);

 private:
  [[nodiscard]] std::uint8_t* row_of(int plane, std::int64_t padded_row);
  void place_row(std::int64_t padded_row);
  void make_outside_row(std::int64_t padded_row, std::int64_t first_row);

  BandPlan plan_;
  PinnedBuffer<std::uint8_t> convolved_;
  std::vector<std::uint8_t> copied_;
  std::vector<std::uint8_t> pixels_;  ///< one row, as the file has it
};

}  // namespace tessera::tool
