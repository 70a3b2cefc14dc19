// Weights of conv2d's cases, the same on every platform.
#include "conformance/conv2d/conv2d_filters.h"

#include <cstddef>
#include <span>

#include "conformance/inputs.h"

namespace tessera::conformance {

std::vector<double> random_filter(DataType type, const FilterSize& filter, std::uint64_t seed) {
  std::vector<double> weights(static_cast<std::size_t>(filter.height * filter.width));
  std::vector<float> values(weights.size());
  fill_values(std::span<float>(values), Values::symmetric, seed);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] =
        type == DataType::float32 ? static_cast<double>(values[i]) : static_cast<double>(random_below(19, seed, i)) - 9;
  }
  return weights;
}

std::vector<double> rank_one_filter(DataType type, const FilterSize& filter) {
  const double scale = type == DataType::float32 ? 0.03125 : 1;
  std::vector<double> weights;
  for (std::int64_t i = 0; i < filter.height; ++i) {
    for (std::int64_t j = 0; j < filter.width; ++j) {
      weights.push_back(scale * static_cast<double>((i % 4 + 1) * (j % 3 - 1 + (j % 2) * 3)));
    }
  }
  return weights;
}

Conv2d conv2d_of(DataType type, const ImageSize& image, const FilterSize& filter, Border border) {
  return {.height = image.height,
          .width = image.width,
          .filter_height = filter.height,
          .filter_width = filter.width,
          .filter = random_filter(type, filter),
          .border = border,
          .type = type};
}

}  // namespace tessera::conformance
