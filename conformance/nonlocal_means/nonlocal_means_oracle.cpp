// The definition of nonlocal_means, and what it approximates.
#include "conformance/nonlocal_means/nonlocal_means_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace tessera::conformance {

namespace {

/// Along one axis of so many voxels: a, b, c, c, b, a, a, b, ... to both sides of the volume.
std::int64_t inside(std::int64_t place, std::int64_t size) {
  while (place < 0 || place >= size) place = place < 0 ? -1 - place : 2 * size - 1 - place;
  return place;
}

/// Candidates of a voxel along one axis, without those out of the volume.
struct Candidates {
  Candidates(std::int64_t place, std::int64_t window, std::int64_t size)
      : first(window / 2 > place ? 0 : place - window / 2),
        last(window - 1 - window / 2 > size - 1 - place ? size - 1 : place + (window - 1 - window / 2)) {}
  std::int64_t first;
  std::int64_t last;
};

}  // namespace

template <class T>
MeansOracle<T>::MeansOracle(const NonlocalMeans& problem, std::span<const T> volume)
    : problem_(problem), volume_(volume), reals_(volume.begin(), volume.end()) {
  if constexpr (std::is_same_v<T, float>) {
    float largest = 0;
    for (const float voxel : volume) largest = std::isfinite(voxel) ? std::max(largest, std::abs(voxel)) : largest;
    (void)std::frexp(largest, &exponent_);
    exponent_ = largest == 0 ? 0 : std::max(exponent_, -100);
    for (const double voxel : reals_)
      numbers_.push_back(std::isfinite(voxel) ? std::llrint(std::ldexp(voxel, 19 - exponent_)) : 1 << 26);
  } else {
    numbers_.assign(volume.begin(), volume.end());
  }
  const double count = static_cast<double>(problem.patch.product() * problem.channels);
  const double sigma = std::is_same_v<T, float> ? std::ldexp(problem.sigma, 19 - exponent_) : problem.sigma;
  const double strength = problem.strength * sigma;
  noise_ = static_cast<std::uint64_t>(std::min(2 * sigma * sigma * count, 0x1p52));
  steps_ = static_cast<float>(std::clamp(256 / (strength * strength * count), 0x1p-60, 4096.0));
  reach_ = static_cast<std::uint64_t>(problem.patch.product() * problem.channels) << 40U;
  weights_.push_back(1 << 20);
  for (int entry = 1; entry < 4096; ++entry) weights_.push_back(std::llround(0x1p20 * std::exp(-(entry + 0.5) / 256)));
}

template <class T>
std::int64_t MeansOracle<T>::weight(std::uint64_t distance) const {
  if (distance > reach_) return 0;
  const auto above = static_cast<float>(distance > noise_ ? distance - noise_ : 0);
  const float entry = above * steps_;
  return entry >= 4095 ? 0 : weights_[static_cast<std::size_t>(entry)];
}

template <class T>
template <class Distance, class Number, class Weigh>
typename MeansOracle<T>::template Sums<Number> MeansOracle<T>::sums(const std::vector<Number>& numbers,
                                                                    std::int64_t index, const Weigh& weigh) const {
  const PerAxis& size = problem_.size;
  const PerAxis& patch = problem_.patch;
  const PerAxis at{index % size.x, index / size.x % size.y, index / size.x / size.y % size.z};
  const auto row_of = [&](std::int64_t channel, std::int64_t y, std::int64_t z) {
    return &numbers[static_cast<std::size_t>(((channel * size.z + inside(z, size.z)) * size.y + inside(y, size.y)) *
                                             size.x)];
  };
  const auto for_patch = [&](std::int64_t cx, std::int64_t cy, std::int64_t cz, const auto& visit) {
    for (std::int64_t channel = 0; channel < problem_.channels; ++channel) {
      for (std::int64_t z = -(patch.z / 2); z < patch.z - patch.z / 2; ++z) {
        for (std::int64_t y = -(patch.y / 2); y < patch.y - patch.y / 2; ++y) {
          const Number* const row = row_of(channel, cy + y, cz + z);
          for (std::int64_t x = -(patch.x / 2); x < patch.x - patch.x / 2; ++x) visit(row[inside(cx + x, size.x)]);
        }
      }
    }
  };
  std::vector<Number> own;
  for_patch(at.x, at.y, at.z, [&](Number number) { own.push_back(number); });
  const auto distance = [&](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
    Distance sum = 0;
    const Number* next = own.data();
    for_patch(cx, cy, cz, [&](Number number) {
      const Number apart = *next++ - number;
      sum += static_cast<Distance>(apart * apart);
    });
    return sum;
  };
  Sums<Number> sums;
  const Candidates along_x(at.x, problem_.window.x, size.x);
  const Candidates along_y(at.y, problem_.window.y, size.y);
  const Candidates along_z(at.z, problem_.window.z, size.z);
  for (std::int64_t z = along_z.first; z <= along_z.last; ++z) {
    for (std::int64_t y = along_y.first; y <= along_y.last; ++y) {
      for (std::int64_t x = along_x.first; x <= along_x.last; ++x) {
        const Number weight = weigh(distance(x, y, z));
        sums.weights += weight;
        if (weight != 0) sums.voxels += weight * row_of(index / size.product(), y, z)[x];
      }
    }
  }
  return sums;
}

template <class T>
T MeansOracle<T>::voxel(std::int64_t index) const {
  const T before = volume_[static_cast<std::size_t>(index)];
  if (problem_.sigma == 0) return before;
  if constexpr (std::is_same_v<T, float>) {
    if (!std::isfinite(before)) return before;
  }
  const auto found = sums<std::uint64_t>(numbers_, index, [&](std::uint64_t distance) { return weight(distance); });
  const std::int64_t twice = 2 * found.weights;
  std::int64_t mean = (2 * found.voxels + found.weights) / twice;
  if (mean * twice > 2 * found.voxels + found.weights) --mean;
  if constexpr (std::is_same_v<T, float>) {
    const double voxel = std::ldexp(static_cast<double>(mean), exponent_ - 19);
    const auto most = static_cast<double>(std::numeric_limits<float>::max());
    return static_cast<float>(std::clamp(voxel, -most, most));
  } else {
    return static_cast<T>(mean);
  }
}

template <class T>
double MeansOracle<T>::in_double(std::int64_t index) const {
  const double noise =
      problem_.sigma * problem_.sigma * static_cast<double>(problem_.patch.product() * problem_.channels);
  const auto found = sums<double>(reals_, index, [&](double distance) {
    return std::exp(-std::max(distance - 2 * noise, 0.0) / (problem_.strength * problem_.strength * noise));
  });
  return found.voxels / found.weights;
}

template class MeansOracle<std::uint8_t>;
template class MeansOracle<std::uint16_t>;
template class MeansOracle<float>;

}  // namespace tessera::conformance
