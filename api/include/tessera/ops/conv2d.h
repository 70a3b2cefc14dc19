// The operator conv2d: one-channel images and one small filter.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tessera/buffer.h>
#include <tessera/types.h>

namespace tessera {

/// What is computed near an image's edge.
enum class Border : std::uint8_t {
  same,   ///< the output has the image's size; pixels outside of the image count as 0
  valid,  ///< only where the filter lies inside: the output is smaller by the filter's size less one
};

/// Name as messages and result files write it: "same".
[[nodiscard]] TESSERA_API std::string_view to_string(Border border) noexcept;

/// Two-dimensional convolution of `batch` images with one filter:
///
///   output(y, x) = sum over i, j of filter(i, j) * image(y + i - anchor_y, x + j - anchor_x)      border same
///   output(y, x) = sum over i, j of filter(i, j) * image(y + i, x + j)                            border valid
///
/// That is a cross-correlation, as image libraries compute it. With `flip`, the filter is turned by 180 degrees first,
/// its anchor with it: the convolution of mathematics. Integer images give int32, exact modulo 2^32: a sum that leaves
/// the range wraps around, on every device alike. Float images give float.
struct Conv2d {
  static constexpr std::string_view kName = "conv2d";
  static constexpr std::int64_t kCentre = -1;         ///< as an anchor: (size - 1) / 2, rounded down
  static constexpr std::int64_t kLargestFilter = 63;  ///< rows, and columns

  std::int64_t height = 0;         ///< rows of each image
  std::int64_t width = 0;          ///< columns of each image; rows are packed
  std::int64_t filter_height = 0;  ///< 1 to kLargestFilter, odd or even
  std::int64_t filter_width = 0;
  /// filter_height x filter_width weights, row by row, all finite. For integer images each must be an int32; for
  /// float they are rounded to float before use.
  std::vector<double> filter;
  Border border = Border::same;
  bool flip = false;
  std::int64_t anchor_y = kCentre;  ///< the filter's element that lies on the output's pixel; border same only
  std::int64_t anchor_x = kCentre;
  DataType type = DataType::float32;  ///< of the images: uint8, int16, int32 or float32
  std::int64_t batch = 1;             ///< images, one behind the other
  Accuracy accuracy = Accuracy::accurate;

  /// Of the output: int32 or float32.
  [[nodiscard]] constexpr DataType output_type() const noexcept {
    return type == DataType::float32 ? DataType::float32 : DataType::int32;
  }
  [[nodiscard]] constexpr std::int64_t output_height() const noexcept {
    return border == Border::valid ? height - filter_height + 1 : height;
  }
  [[nodiscard]] constexpr std::int64_t output_width() const noexcept {
    return border == Border::valid ? width - filter_width + 1 : width;
  }

  /// What it is run with. The output must not overlap the image.
  struct Operands {
    ConstOperand image;
    Operand output;
  };

  bool operator==(const Conv2d&) const = default;
};

}  // namespace tessera
