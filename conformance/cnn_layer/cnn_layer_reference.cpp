// What the outputs of a cnn_layer must be, and comparing results with it.
#include "conformance/cnn_layer/cnn_layer_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "conformance/in_threads.h"
#include "conformance/inputs.h"

namespace tessera::conformance {

namespace {

/// Products up to which every output is computed: some 0.3 s on one core, and as much again with neighbours.
constexpr double kCompleteProducts = 1 << 24;
/// Products that the samples of a larger case may take together.
constexpr double kSampleProducts = 1 << 25;

std::string output_name(const CnnLayerPlace& place) {
  return "output (" + std::to_string(place.y) + ", " + std::to_string(place.x) + ") of channel " +
         std::to_string(place.channel) + " of image " + std::to_string(place.image);
}

double products_of_sum(const CnnLayer& p) {
  return static_cast<double>(p.input_channels * p.filter_height * p.filter_width);
}

}  // namespace

template <class T>
CnnLayerReference<T>::CnnLayerReference(CnnLayerInputs<T> inputs, Draw draw, std::uint64_t seed)
    : inputs_(std::move(inputs)), draw_(draw), has_neighbours_(inputs_.problem.stride == 1) {
  const CnnLayer& p = inputs_.problem;
  const double outputs =
      static_cast<double>(p.batch * p.output_channels) * static_cast<double>(p.output_height() * p.output_width());
  is_complete_ = outputs * static_cast<double>(p.pool_size * p.pool_size) * products_of_sum(p) <= kCompleteProducts;
  std::optional<CnnLayerNeighbours> neighbours;
  if (is_complete_) {
    if (has_neighbours_) neighbours.emplace(inputs_);
    for (std::size_t index = 0; index < static_cast<std::size_t>(outputs); ++index)
      samples_.push_back({place_of(index), {}});
  } else {
    choose_samples(seed);
  }
  in_threads(samples_.size(), static_cast<double>(samples_.size()) * products_of_sum(p), [&](std::size_t i) {
    samples_[i].expected =
        cnn_layer_element(inputs_, samples_[i].place, has_neighbours_, neighbours ? &*neighbours : nullptr);
  });
}

template <class T>
void CnnLayerReference<T>::choose_samples(std::uint64_t seed) {
  const CnnLayer& p = inputs_.problem;
  const std::int64_t height = p.output_height();
  const std::int64_t width = p.output_width();
  const auto add = [&](const CnnLayerPlace& place) { samples_.push_back({place, {}}); };
  const double affordable = kSampleProducts / (products_of_sum(p) * static_cast<double>(p.pool_size * p.pool_size));
  const std::int64_t planes = p.batch * p.output_channels;
  const std::int64_t rounds = std::max<std::int64_t>(1, static_cast<std::int64_t>(affordable) / planes);
  for (std::int64_t image = 0; image < p.batch; ++image) {
    for (const std::int64_t channel : {std::int64_t{0}, p.output_channels - 1}) {
      for (const std::int64_t y : {std::int64_t{0}, height - 1}) {
        for (const std::int64_t x : {std::int64_t{0}, width - 1}) add({image, channel, y, x});
      }
    }
  }
  for (std::int64_t i = 0; i < rounds * planes; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    add({i % planes / p.output_channels, i % p.output_channels,
         static_cast<std::int64_t>(random_below(static_cast<std::uint64_t>(height), seed, 2 * number)),
         static_cast<std::int64_t>(random_below(static_cast<std::uint64_t>(width), seed, 2 * number + 1))});
  }
}

template <class T>
std::size_t CnnLayerReference<T>::index_of(const CnnLayerPlace& place) const {
  const CnnLayer& p = inputs_.problem;
  const std::int64_t row = p.layout == Layout::nhwc
                               ? ((place.image * p.output_height() + place.y) * p.output_width() + place.x)
                               : ((place.image * p.output_channels + place.channel) * p.output_height() + place.y);
  return static_cast<std::size_t>(p.layout == Layout::nhwc ? row * p.output_channels + place.channel
                                                           : row * p.output_width() + place.x);
}

template <class T>
CnnLayerPlace CnnLayerReference<T>::place_of(std::size_t index) const {
  const CnnLayer& p = inputs_.problem;
  auto rest = static_cast<std::int64_t>(index);
  const auto take = [&](std::int64_t size) {
    const std::int64_t digit = rest % size;
    rest /= size;
    return digit;
  };
  CnnLayerPlace place;
  if (p.layout == Layout::nhwc) place.channel = take(p.output_channels);
  place.x = take(p.output_width());
  place.y = take(p.output_height());
  if (p.layout == Layout::nchw) place.channel = take(p.output_channels);
  place.image = rest;
  return place;
}

template <class T>
void CnnLayerReference<T>::check(std::span<const T> outputs, double error_factor, T poison,
                                 Comparison& comparison) const {
  const CnnLayer& p = inputs_.problem;
  const auto sums = static_cast<double>(samples_.size()) * static_cast<double>(p.pool_size * p.pool_size);
  Chance chance(p.type, cnn_layer_bound(p), draw_, sums, error_factor, Excess::roundings);
  const auto accept = [&](const CnnLayerPlace& place, double found, const CnnLayerExpected& expected) {
    const std::string difference =
        chance.difference(found, expected.element, worst_of(expected, error_factor), comparison);
    if (!difference.empty()) comparison.fail(output_name(place) + " " + difference);
  };
  for (const Sample& sample : samples_) accept(sample.place, outputs[index_of(sample.place)], sample.expected);
  if (std::string unlikely = chance.failure_of_all(); !unlikely.empty() && !comparison.failed()) {
    comparison.fail(std::move(unlikely));
  }
  if (is_complete_) return;
  for (std::size_t i = 0; i < outputs.size() && !comparison.failed(); ++i) {
    if (std::memcmp(&outputs[i], &poison, sizeof poison) != 0) continue;
    const CnnLayerPlace place = place_of(i);
    accept(place, outputs[i], cnn_layer_element(inputs_, place, has_neighbours_));
  }
}

template class CnnLayerReference<float>;
template class CnnLayerReference<double>;

}  // namespace tessera::conformance
