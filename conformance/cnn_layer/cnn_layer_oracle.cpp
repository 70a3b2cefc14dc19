// The oracle of cnn_layer.
#include "conformance/cnn_layer/cnn_layer_oracle.h"

#include <algorithm>
#include <cmath>

namespace tessera::conformance {

namespace {

/// Where the filter lies for one sum, without what lies in the padding.
struct Window {
  std::int64_t top;  ///< of the filter, in the image's rows; may be negative
  std::int64_t left;
  std::int64_t first_i;
  std::int64_t last_i;  ///< past the last
  std::int64_t first_j;
  std::int64_t last_j;
};

Window window_at(const CnnLayer& p, std::int64_t y, std::int64_t x) {
  const std::int64_t top = y * p.stride - p.padding;
  const std::int64_t left = x * p.stride - p.padding;
  return {top,
          left,
          std::max<std::int64_t>(0, -top),
          std::min(p.filter_height, p.height - top),
          std::max<std::int64_t>(0, -left),
          std::min(p.filter_width, p.width - left)};
}

/// The largest finite magnitude of a channel's pixels in and around the window.
template <class T>
double largest_nearby(const CnnLayerInputs<T>& inputs, std::int64_t image, std::int64_t channel, const Window& window) {
  const CnnLayer& p = inputs.problem;
  double largest = 0;
  const std::int64_t first_y = std::max<std::int64_t>(0, window.top - kCnnLayerReach);
  const std::int64_t last_y = std::min(p.height, window.top + p.filter_height + kCnnLayerReach);
  const std::int64_t first_x = std::max<std::int64_t>(0, window.left - kCnnLayerReach);
  const std::int64_t last_x = std::min(p.width, window.left + p.filter_width + kCnnLayerReach);
  for (std::int64_t y = first_y; y < last_y; ++y) {
    for (std::int64_t x = first_x; x < last_x; ++x) {
      const double magnitude = std::abs(static_cast<double>(inputs.input_at(image, channel, y, x)));
      if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
    }
  }
  return largest;
}

/// One sum, before ReLU and pool.
template <class T>
CnnLayerExpected sum_at(const CnnLayerInputs<T>& inputs, const CnnLayerPlace& place, bool with_neighbours,
                        const CnnLayerNeighbours* neighbours) {
  const CnnLayer& p = inputs.problem;
  const Window window = window_at(p, place.y, place.x);
  ExactSum sum;
  double magnitude = 0;
  double squares = 0;
  double around = 0;
  double largest_weight = 0;
  double pixels = 0;
  double products = 0;
  for (std::int64_t channel = 0; channel < p.input_channels; ++channel) {
    double weights = 0;
    for (std::int64_t i = window.first_i; i < window.last_i; ++i) {
      for (std::int64_t j = window.first_j; j < window.last_j; ++j) {
        const auto weight = static_cast<double>(inputs.weight_at(place.channel, channel, i, j));
        const auto pixel = static_cast<double>(inputs.input_at(place.image, channel, window.top + i, window.left + j));
        sum.add_product(static_cast<T>(weight), static_cast<T>(pixel));
        magnitude += std::abs(weight * pixel);
        squares += weight * pixel * weight * pixel;
        if (std::isfinite(pixel)) pixels += std::abs(pixel);
        products += 1;
      }
    }
    if (!with_neighbours) continue;
    // All weights count, also those over the padding: an algorithm that multiplies the padding's zeros still mixes
    // these weights with other pixels of its tile.
    for (std::int64_t i = 0; i < p.filter_height; ++i) {
      for (std::int64_t j = 0; j < p.filter_width; ++j) {
        const double weight = std::abs(static_cast<double>(inputs.weight_at(place.channel, channel, i, j)));
        weights += weight;
        if (std::isfinite(weight)) largest_weight = std::max(largest_weight, weight);
      }
    }
    around += weights * (neighbours != nullptr ? neighbours->largest(place.image, channel, place.y, place.x)
                                               : largest_nearby(inputs, place.image, channel, window));
  }
  double bias = 0;
  if (p.bias) {
    bias = static_cast<double>(inputs.bias[static_cast<std::size_t>(place.channel)]);
    sum.add_product(1.0, bias);
  }
  const SumBound bound = cnn_layer_bound(p);
  const auto bound_of = [&](double size) { return bound.relative * (size + std::abs(bias)) + bound.absolute; };
  const double own_bound = products == 0 ? 0 : bound_of(magnitude);  // 0: the bias alone, or nothing
  return {.element = {{.value = sum.value(), .bound = own_bound}, magnitude + std::abs(bias), squares + bias * bias},
          .neighbours_bound = with_neighbours ? bound_of(around) : own_bound,
          .window_bound = with_neighbours ? bound_of(largest_weight * pixels) : own_bound};
}

bool is_larger(const Exact& a, const Exact& b) {
  return a.high > b.high || (a.high == b.high && a.low > b.low);
}

}  // namespace

SumBound cnn_layer_bound(const CnnLayer& p) {
  // A product meets its own rounding and at most all additions but one, that of the bias included: gamma of their
  // number, as for gemm. Fewer products, at the padding, are no reason for a smaller one: zeros may be added too.
  const auto products = static_cast<double>(p.input_channels * p.filter_height * p.filter_width);
  const double roundings = products + (p.bias ? 1 : 0);
  const Arithmetic arithmetic = arithmetic_of(p.type);
  return {.roundings = roundings,
          .relative = gamma(roundings, arithmetic.unit_roundoff) * bound_rounding(products),
          .absolute = (2 * products + 1) * arithmetic.smallest_normal};
}

template <class T>
CnnLayerNeighbours::CnnLayerNeighbours(const CnnLayerInputs<T>& inputs)
    : channels_(inputs.problem.input_channels),
      height_((inputs.problem.height + 2 * inputs.problem.padding - inputs.problem.filter_height) /
                  inputs.problem.stride +
              1),
      width_((inputs.problem.width + 2 * inputs.problem.padding - inputs.problem.filter_width) / inputs.problem.stride +
             1) {
  const std::int64_t planes = inputs.problem.batch * channels_;
  largest_.reserve(static_cast<std::size_t>(planes * height_ * width_));
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    for (std::int64_t y = 0; y < height_; ++y) {
      for (std::int64_t x = 0; x < width_; ++x) {
        largest_.push_back(
            largest_nearby(inputs, plane / channels_, plane % channels_, window_at(inputs.problem, y, x)));
      }
    }
  }
}

template <class T>
CnnLayerExpected cnn_layer_element(const CnnLayerInputs<T>& inputs, const CnnLayerPlace& place, bool with_neighbours,
                                   const CnnLayerNeighbours* neighbours) {
  const CnnLayer& p = inputs.problem;
  const std::int64_t step = p.pool_stride == 0 ? p.pool_size : p.pool_stride;
  CnnLayerExpected expected;
  bool is_nan = false;
  for (std::int64_t i = 0; i < p.pool_size; ++i) {
    for (std::int64_t j = 0; j < p.pool_size; ++j) {
      const CnnLayerExpected one = sum_at(inputs, {place.image, place.channel, place.y * step + i, place.x * step + j},
                                          with_neighbours, neighbours);
      is_nan = is_nan || std::isnan(one.element.value.high);
      // The largest of several numbers is off by no more than the one that is off most; so is max(0, x).
      const bool is_first = i == 0 && j == 0;
      if (is_first || is_larger(one.element.value, expected.element.value)) {
        expected.element.value = one.element.value;
        expected.element.square = one.element.square;
      }
      // An infinite sum has no error: it is met or not.
      if (!std::isfinite(one.element.value.high)) continue;
      expected.element.bound = std::max(expected.element.bound, one.element.bound);
      expected.element.magnitude = std::max(expected.element.magnitude, one.element.magnitude);
      expected.neighbours_bound = std::max(expected.neighbours_bound, one.neighbours_bound);
      expected.window_bound = std::max(expected.window_bound, one.window_bound);
    }
  }
  if (is_nan) {
    expected.element.value = {std::nan(""), 0};
  } else if (p.relu && is_larger({0, 0}, expected.element.value)) {
    expected.element.value = {0, 0};
  }
  return expected;
}

double worst_of(const CnnLayerExpected& expected, double error_factor) {
  if (error_factor <= 1) return expected.element.bound;
  return std::min(error_factor * expected.neighbours_bound,
                  std::max(error_factor, CnnLayer::kAccurateFactor) * expected.window_bound);
}

template CnnLayerNeighbours::CnnLayerNeighbours(const CnnLayerInputs<float>&);
template CnnLayerNeighbours::CnnLayerNeighbours(const CnnLayerInputs<double>&);
template CnnLayerExpected cnn_layer_element(const CnnLayerInputs<float>&, const CnnLayerPlace&, bool,
                                            const CnnLayerNeighbours*);
template CnnLayerExpected cnn_layer_element(const CnnLayerInputs<double>&, const CnnLayerPlace&, bool,
                                            const CnnLayerNeighbours*);

}  // namespace tessera::conformance
