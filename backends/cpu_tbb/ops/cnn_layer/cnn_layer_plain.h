// The definition of cnn_layer written down as loops; sequential and naive differ only in who runs them.
//
//   input, C channels            output, one channel       For each output, for each place of the pool's window, a sum
//   +-----------+                +---------+               over all channels and the filter; then bias, ReLU and the
//   | +---+     |+               | #       |               larger of the window. A pixel is read once for each output
//   | |   |     ||  -> sum ->    |         |               channel and each place of the filter, a weight once for
//   | +---+     ||               +---------+               each sum, mostly from the caches.
//   +-----------+|
//    +-----------+
#pragma once

#include <algorithm>

#include "ops/cnn_layer/cnn_layer_operands.h"

namespace tessera::cpu_tbb {

/// Sum (y, x) of an output channel's products, before bias, ReLU and pool. `weights` are all raw weights.
template <class T>
[[nodiscard]] T cnn_products(const CnnOperands<T>& layer, const T* weights, std::int64_t image, std::int64_t channel,
                             std::int64_t y, std::int64_t x) noexcept {
  const CnnLayer& p = layer.problem;
  const std::int64_t top = y * p.stride - p.padding;
  const std::int64_t left = x * p.stride - p.padding;
  const std::int64_t first_i = std::max<std::int64_t>(0, -top);
  const std::int64_t last_i = std::min(p.filter_height, p.height - top);
  const std::int64_t first_j = std::max<std::int64_t>(0, -left);
  const std::int64_t last_j = std::min(p.filter_width, p.width - left);
  const T* filter = weights + channel * p.input_channels * p.filter_height * p.filter_width;
  T sum = 0;
  for (std::int64_t c = 0; c < p.input_channels; ++c, filter += p.filter_height * p.filter_width) {
    for (std::int64_t i = first_i; i < last_i; ++i) {
      for (std::int64_t j = first_j; j < last_j; ++j)
        sum += filter[i * p.filter_width + j] * *layer.input.at(image, c, top + i, left + j);
    }
  }
  return sum;
}

/// The same with bias, of a layer that was not prepared.
template <class T>
[[nodiscard]] T cnn_sum(const CnnOperands<T>& layer, std::int64_t image, std::int64_t channel, std::int64_t y,
                        std::int64_t x) noexcept {
  return cnn_products(layer, layer.weights, image, channel, y, x) + layer.bias_of(channel);
}

/// All outputs of planes [first, last): output channels of all images, counted through.
template <class T>
void cnn_planes(const CnnOperands<T>& layer, std::int64_t first, std::int64_t last) noexcept {
  const CnnLayer& p = layer.problem;
  for (std::int64_t plane = first; plane < last; ++plane) {
    const std::int64_t image = plane / p.output_channels;
    const std::int64_t channel = plane % p.output_channels;
    for (std::int64_t y = 0; y < p.output_height(); ++y) {
      for (std::int64_t x = 0; x < p.output_width(); ++x) {
        const std::int64_t top = y * p.pool_stride;
        const std::int64_t left = x * p.pool_stride;
        T largest = cnn_sum(layer, image, channel, top, left);
        for (std::int64_t i = 0; i < p.pool_size; ++i) {
          for (std::int64_t j = i == 0 ? 1 : 0; j < p.pool_size; ++j)
            largest = cnn_larger(largest, cnn_sum(layer, image, channel, top + i, left + j));
        }
        // The larger of rectified numbers is the rectified larger one.
        *layer.output.at(image, channel, y, x) = p.relu ? cnn_rectified(largest) : largest;
      }
    }
  }
}

}  // namespace tessera::cpu_tbb
