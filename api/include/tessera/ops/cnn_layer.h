// The operator cnn_layer: convolution over many channels, bias, ReLU and max-pool in one.
#pragma once

#include <cstdint>
#include <string_view>

#include <tessera/buffer.h>
#include <tessera/prepared_weights.h>
#include <tessera/types.h>

namespace tessera {

/// How images with several channels lie in memory, packed.
enum class Layout : std::uint8_t {
  nchw,  ///< image after image, in it channel after channel, in it row after row
  nhwc,  ///< image after image, in it row after row; the channels of a pixel lie beside each other
};

/// Name as messages and result files write it: "nchw".
[[nodiscard]] TESSERA_API std::string_view to_string(Layout layout) noexcept;

/// One layer of a convolutional network, for `batch` images:
///
///   sum(o, y, x)    = bias(o) + sum over c, i, j of weights(o, c, i, j)
///                                            * input(c, y * stride + i - padding, x * stride + j - padding)
///   layer(o, y, x)  = max(0, sum(o, y, x))                                                        with `relu`
///   output(o, y, x) = max over i, j < pool_size of layer(o, y * pool_stride + i, x * pool_stride + j)
///
/// That is a cross-correlation, as networks compute it; pixels outside of the image count as 0. Rows and columns that
/// do not fill a last step of `stride` or `pool_stride` are left out, as is usual: sizes are rounded down. A NaN stays
/// a NaN: ReLU does not hide it, and an output is NaN if any sum in its pool's window is. Outputs that touch the
/// padding are not defined where a weight is infinite or NaN.
///
/// How exact it is. Summed in the operands' type, an output is off by at most
///
///   strict = g * (sum over its window of |weight| |pixel|  +  |bias|)
///
/// where its window is the input_channels * filter_height * filter_width pixels under its filter, g is n u / (1 - n u)
/// for that number n, and one more for the bias, and u is the type's unit roundoff, 2^-24 or 2^-53. For underflow 2 n +
/// 1 times the smallest normal number is added, below too before the factor; with a pool the largest bound of its sums
/// counts. That is what Accuracy::strict keeps. With Accuracy::accurate an output is off by at most
///
///   kAccurateFactor * g * (the largest |weight| of its output channel * sum over its window of |pixel|  +  |bias|)
///
/// so what lies beside its window, an outlier say, does not matter to it. Where the weights of an output channel are of
/// one size, that is kAccurateFactor times strict, and for evenly or normally distributed weights two to five times as
/// much. What remains: where one weight of an output channel is many times larger than the others, outputs whose
/// window has only small pixels under it are held to what that weight could have made of the whole window.
struct CnnLayer {
  static constexpr std::string_view kName = "cnn_layer";

  std::int64_t batch = 1;           ///< images; may be 0
  std::int64_t input_channels = 0;  ///< all sizes below are at least 1
  std::int64_t output_channels = 0;
  std::int64_t height = 0;  ///< rows of each input image
  std::int64_t width = 0;
  std::int64_t filter_height = 0;  ///< odd or even
  std::int64_t filter_width = 0;
  std::int64_t stride = 1;       ///< of the filter, in rows and columns
  std::int64_t padding = 0;      ///< rows and columns of zeros on every side of the input
  std::int64_t pool_size = 1;    ///< 1: no pool; 2 or 3: windows of 2 x 2 or 3 x 3
  std::int64_t pool_stride = 0;  ///< from one window to the next; 0: pool_size
  bool relu = true;
  bool bias = true;                   ///< one number for each output channel is added
  Layout layout = Layout::nchw;       ///< of input and output; weights are always (output, input, row, column), packed
  DataType type = DataType::float32;  ///< of all operands: float32 or float64
  Accuracy accuracy = Accuracy::accurate;

  /// The factor of Accuracy::accurate, as told above; with fast the larger of it and KernelInfo::error_factor takes its
  /// place. Error factors say more of outputs without outliers beside them: in strict, take for each pixel the largest
  /// of its channel up to three pixels around the window, and multiply by the error factor. Variants whose error factor
  /// is larger than this one are offered with fast alone; strict takes only those of factor 1.
  static constexpr double kAccurateFactor = 128;

  /// Rows before the pool.
  [[nodiscard]] constexpr std::int64_t convolved_height() const noexcept {
    return (height + 2 * padding - filter_height) / stride + 1;
  }
  [[nodiscard]] constexpr std::int64_t convolved_width() const noexcept {
    return (width + 2 * padding - filter_width) / stride + 1;
  }
  [[nodiscard]] constexpr std::int64_t pool_step() const noexcept { return pool_stride == 0 ? pool_size : pool_stride; }
  [[nodiscard]] constexpr std::int64_t output_height() const noexcept {
    return (convolved_height() - pool_size) / pool_step() + 1;
  }
  [[nodiscard]] constexpr std::int64_t output_width() const noexcept {
    return (convolved_width() - pool_size) / pool_step() + 1;
  }

  /// What it is run with. The output must not overlap any other. Without `bias`, that operand stays empty.
  struct Operands {
    ConstOperand input;
    WeightsOperand weights;  ///< raw, or from Queue::prepare_weights()
    ConstOperand bias;
    Operand output;
  };

  bool operator==(const CnnLayer&) const = default;
};

}  // namespace tessera
