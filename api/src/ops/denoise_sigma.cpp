// How strong the noise of a volume is, from the volume alone.
#include <tessera/ops/denoise_sigma.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../boundary.h"
#include "operand_size.h"
#include "per_axis.h"

namespace tessera {

namespace {

/// The median of the magnitude of a normally distributed number, in its standard deviations.
constexpr double kMedianOfNormal = 0.6744897501960817;

/// Where an axis has several voxels, pairs of neighbours along it; else the one voxel.
struct Pairs {
  explicit Pairs(std::int64_t size) noexcept : count(size > 1 ? size / 2 : 1), in_pair(size > 1 ? 2 : 1) {}
  std::int64_t count;
  std::int64_t in_pair;
};

template <class T>
double sigma_of_details(std::span<const T> volume, const PerAxis& size) {
  using backend::sentence;
  detail::check_axes("estimate_sigma", "size", size);
  const bool is_too_large = detail::is_too_large({size.x, size.y, size.z}, DataType::int64);
  if (is_too_large || static_cast<std::uint64_t>(size.product()) != volume.size())
    detail::refuse(sentence("the volume of estimate_sigma has ", volume.size(), " voxels, but its size is ",
                            detail::text_of(size)));
  if (size.product() < 2) detail::refuse("the volume of estimate_sigma has 1 voxel, but noise needs at least 2");
  const Pairs x(size.x);
  const Pairs y(size.y);
  const Pairs z(size.z);
  const double length = std::sqrt(static_cast<double>(x.in_pair * y.in_pair * z.in_pair));
  std::vector<double> details;
  details.reserve(static_cast<std::size_t>(x.count * y.count * z.count));
  for (std::int64_t block = 0; block < x.count * y.count * z.count; ++block) {
    const PerAxis first{block % x.count * x.in_pair, block / x.count % y.count * y.in_pair,
                        block / x.count / y.count * z.in_pair};
    double difference = 0;
    for (std::int64_t corner = 0; corner < x.in_pair * y.in_pair * z.in_pair; ++corner) {
      const PerAxis at{first.x + corner % x.in_pair, first.y + corner / x.in_pair % y.in_pair,
                       first.z + corner / x.in_pair / y.in_pair};
      const bool is_minus = (at.x - first.x + at.y - first.y + at.z - first.z) % 2 != 0;
      const auto voxel = static_cast<double>(volume[static_cast<std::size_t>((at.z * size.y + at.y) * size.x + at.x)]);
      difference += is_minus ? -voxel : voxel;
    }
    if (std::isfinite(difference)) details.push_back(std::abs(difference) / length);
  }
  if (details.empty()) return 0;
  const auto middle = details.begin() + static_cast<std::ptrdiff_t>(details.size() / 2);
  std::nth_element(details.begin(), middle, details.end());
  return *middle / kMedianOfNormal;
}

}  // namespace

double estimate_sigma(std::span<const std::uint8_t> volume, const PerAxis& size) {
  return detail::at_boundary([&] { return sigma_of_details(volume, size); });
}
double estimate_sigma(std::span<const std::uint16_t> volume, const PerAxis& size) {
  return detail::at_boundary([&] { return sigma_of_details(volume, size); });
}
double estimate_sigma(std::span<const float> volume, const PerAxis& size) {
  return detail::at_boundary([&] { return sigma_of_details(volume, size); });
}

}  // namespace tessera
