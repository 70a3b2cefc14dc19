// What cnn_layer must give: plain loops with about 106 significant bits and a derived bound. Takes the problem as the
// user states it. Nobody optimises this; it shares no code with any backend.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/chance.h"

namespace tessera::conformance {

/// A cnn_layer with its operands in host memory.
template <class T>
struct CnnLayerInputs {
  CnnLayer problem;
  std::span<const T> input;
  std::span<const T> weights;
  std::span<const T> bias;  ///< empty without bias

  /// Pixel (y, x) of a channel, which lies in the image.
  [[nodiscard]] T input_at(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) const {
    const CnnLayer& p = problem;
    if (p.layout == Layout::nhwc) return input[((image * p.height + y) * p.width + x) * p.input_channels + channel];
    return input[((image * p.input_channels + channel) * p.height + y) * p.width + x];
  }
  [[nodiscard]] T weight_at(std::int64_t output, std::int64_t channel, std::int64_t i, std::int64_t j) const {
    const CnnLayer& p = problem;
    return weights[((output * p.input_channels + channel) * p.filter_height + i) * p.filter_width + j];
  }
};

/// One output: a channel of an image at (y, x).
struct CnnLayerPlace {
  std::int64_t image = 0;
  std::int64_t channel = 0;
  std::int64_t y = 0;
  std::int64_t x = 0;
};

/// The first and the past-the-last row or column of the neighbourhood that bounds with a factor above 1 look at: tiles
/// of at most 4 outputs a side, so the pixels of an output's filter and of those up to 3 places beside it.
inline constexpr std::int64_t kCnnLayerReach = 3;

struct CnnLayerExpected {
  ExpectedSum element;          ///< with the bound of the strict algorithm; the square is that of the window's largest
  double neighbours_bound = 0;  ///< the same with each pixel as large as the largest of its channel nearby
  double window_bound = 0;      ///< the same with each weight as large as the largest of its output channel
};

/// The bound of an output for a kernel of this error factor. Both bounds of a factor above 1 hold: a pixel beside the
/// window may not tell more than the first says, nor anything by the second.
[[nodiscard]] double worst_of(const CnnLayerExpected& expected, double error_factor);

/// The bound of a sum, whose terms are the products and the bias.
[[nodiscard]] SumBound cnn_layer_bound(const CnnLayer& problem);

/// What neighbours_bound asks of the input, for every sum of a layer: the output channels ask the same.
class CnnLayerNeighbours {
 public:
  template <class T>
  explicit CnnLayerNeighbours(const CnnLayerInputs<T>& inputs);

  /// The largest finite magnitude of a channel's pixels in and around the window of the sum (y, x).
  [[nodiscard]] double largest(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) const {
    return largest_[static_cast<std::size_t>(((image * channels_ + channel) * height_ + y) * width_ + x)];
  }

 private:
  std::int64_t channels_;
  std::int64_t height_;  ///< of the sums
  std::int64_t width_;
  std::vector<double> largest_;
};

/// An output, and its bounds. `with_neighbours`: compute neighbours_bound and window_bound too, which takes several
/// times as long where `neighbours` are not at hand. Without, both are the strict algorithm's, which is narrower.
template <class T>
[[nodiscard]] CnnLayerExpected cnn_layer_element(const CnnLayerInputs<T>& inputs, const CnnLayerPlace& place,
                                                 bool with_neighbours, const CnnLayerNeighbours* neighbours = nullptr);

extern template CnnLayerNeighbours::CnnLayerNeighbours(const CnnLayerInputs<float>&);
extern template CnnLayerNeighbours::CnnLayerNeighbours(const CnnLayerInputs<double>&);
extern template CnnLayerExpected cnn_layer_element(const CnnLayerInputs<float>&, const CnnLayerPlace&, bool,
                                                   const CnnLayerNeighbours*);
extern template CnnLayerExpected cnn_layer_element(const CnnLayerInputs<double>&, const CnnLayerPlace&, bool,
                                                   const CnnLayerNeighbours*);

}  // namespace tessera::conformance
