// An image of 48 x 40 floats from 0 to 255, clean and with noise, that the oracles which remove noise are tested with.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/inputs.h"

namespace tessera::conformance {

/// A bright square with a texture on a dark ground.
[[nodiscard]] inline std::vector<float> clean_image(std::int64_t channels) {
  std::vector<float> clean;
  for (std::int64_t i = 0; i < 48 * 40 * channels; ++i) {
    const std::int64_t x = i % 48;
    const std::int64_t y = i / 48 % 40;
    const bool is_inside = x > 12 && x < 36 && y > 10 && y < 30;
    const auto shade = static_cast<float>(20 * (i / (48 * 40)));
    clean.push_back(is_inside ? 170 - shade + 12 * std::sin(0.8F * static_cast<float>(x)) : 60 + shade);
  }
  return clean;
}

/// With noise of that sigma: sums of twelve numbers from [-1, 1), of which each has a variance of a third.
[[nodiscard]] inline std::vector<float> noisy_image(std::int64_t channels, double sigma, std::uint64_t seed) {
  std::vector<float> image = clean_image(channels);
  std::vector<float> numbers(12 * image.size());
  fill_values(std::span<float>(numbers), Values::symmetric, seed);
  for (std::size_t i = 0; i < image.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 12; ++k) sum += static_cast<double>(numbers[12 * i + k]);
    image[i] += static_cast<float>(sigma / 2 * sum);
  }
  return image;
}

}  // namespace tessera::conformance
