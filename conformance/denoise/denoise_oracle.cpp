// One step after the other, reference by reference.
#include "conformance/denoise/denoise_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/denoise/denoise_stack_oracle.h"
#include "conformance/patch_match/patch_match_oracle.h"

namespace tessera::conformance {

namespace {

constexpr double kWeightUnits = 0x1p20;

/// A step of a volume, with sums that are whole numbers for float and numbers for double.
template <class Real, class T>
class StepOracle {
 public:
  using Sum = std::conditional_t<std::is_same_v<Real, float>, std::int64_t, double>;

  StepOracle(const Denoise& problem, std::span<const T> volume, std::span<const T> basic, float largest_beside = 0)
      : problem_(problem),
        step_(basic.empty() ? problem.hard : problem.wiener),
        volume_(volume),
        basic_(basic),
        stacks_(step_),
        window_(oracle_window(step_)),
        voxels_(problem.size.product()) {
    find_scale(largest_beside);
    sums_.resize(static_cast<std::size_t>(voxels_ * problem_.channels));
    const std::vector<T> matched = matched_volume();
    const PatchMatch matching = problem_.matching(step_);
    const auto voxel = [&](std::int64_t index) { return matched[static_cast<std::size_t>(index)]; };
    for (std::int64_t reference = 0; reference < matching.references().product(); ++reference) {
      std::vector<std::int64_t> patches = expected_stack<T>(matching, voxel, reference).indices;
      std::size_t members = 1;
      while (2 * members <= patches.size()) members *= 2;
      if (patches.empty()) continue;
      patches.resize(members);
      for (std::int64_t channel = 0; channel < problem_.channels; ++channel) filter(patches, channel);
    }
  }

  /// In whole units of 2^-fraction_bits() of a scaled voxel, halves up.
  [[nodiscard]] std::int64_t units(std::int64_t channel, std::int64_t index) const {
    const auto& [estimates, weights] = sum(channel, index);
    std::int64_t quotient = (2 * estimates + weights) / (2 * weights);
    if (quotient * 2 * weights > 2 * estimates + weights) --quotient;
    return quotient;
  }
  [[nodiscard]] double mean(std::int64_t channel, std::int64_t index) const {
    const auto& [estimates, weights] = sum(channel, index);
    if (weights == 0) return std::numeric_limits<double>::quiet_NaN();
    const double mean = static_cast<double>(estimates) / static_cast<double>(weights);
    return std::ldexp(mean, exponent_ - (std::is_same_v<Real, float> ? fraction_bits() : 0));
  }
  [[nodiscard]] bool is_reached(std::int64_t index) const { return sum(0, index).weights != 0; }
  /// Whole units as a voxel.
  [[nodiscard]] T voxel(std::int64_t units) const {
    if constexpr (std::is_same_v<T, float>) return std::ldexp(static_cast<float>(units), exponent_ - fraction_bits());
    const double nearest = std::floor(std::ldexp(static_cast<double>(units), exponent_ - fraction_bits()) + 0.5);
    return static_cast<T>(std::clamp(nearest, 0.0, static_cast<double>(std::numeric_limits<T>::max())));
  }

 private:
  struct Sums {
    Sum estimates = 0;
    Sum weights = 0;
  };
  [[nodiscard]] int fraction_bits() const { return value_bits_ - 3; }
  [[nodiscard]] const Sums& sum(std::int64_t channel, std::int64_t index) const {
    return sums_[static_cast<std::size_t>(channel * voxels_ + index)];
  }

  void find_scale(float largest_beside) {
    exponent_ = problem_.type == DataType::uint8 ? 8 : 16;
    if constexpr (std::is_same_v<T, float>) {
      float largest = largest_beside;
      for (const auto& part : {volume_, basic_}) {
        for (const float number : part) largest = std::isfinite(number) ? std::max(largest, std::abs(number)) : largest;
      }
      (void)std::frexp(largest, &exponent_);
      exponent_ = largest == 0 ? 0 : std::clamp(exponent_, -100, 126);
    }
    int count_bits = 0;
    while (std::ldexp(1.0, count_bits) < problem_.most_estimates(step_)) ++count_bits;
    value_bits_ = std::min(28, 61 - 20 - count_bits);
  }

  [[nodiscard]] std::vector<T> matched_volume() const {
    const std::span<const T> from = basic_.empty() ? volume_ : basic_;
    if (problem_.channels == 1) return {from.begin(), from.end()};
    std::vector<T> mean;
    for (std::size_t i = 0; i < static_cast<std::size_t>(voxels_); ++i) {
      const auto count = static_cast<std::size_t>(voxels_);
      if constexpr (std::is_same_v<T, float>) {
        mean.push_back((from[i] + from[count + i] + from[2 * count + i]) * (1.0F / 3));
      } else {
        mean.push_back(static_cast<T>((from[i] + from[count + i] + from[2 * count + i] + 1) / 3));
      }
    }
    return mean;
  }

  /// One scaled voxel of a channel.
  [[nodiscard]] Real number(std::span<const T> from, std::int64_t index, std::int64_t channel) const {
    const auto colour = [&](std::int64_t which) {
      const auto at = static_cast<std::size_t>(which * voxels_ + index);
      const bool is_finite = basic_.empty() || std::isfinite(static_cast<float>(from[at]));
      return static_cast<Real>(is_finite ? from[at] : basic_[at]) * static_cast<Real>(std::ldexp(1.0, -exponent_));
    };
    if (problem_.channels == 1) return colour(0);
    const Real red = colour(0);
    const Real green = colour(1);
    const Real blue = colour(2);
    if (channel == 0) return (red + green + blue) * static_cast<Real>(1.0F / 3);
    return channel == 1 ? (red - blue) / 2 : ((red - green) + (blue - green)) / 4;
  }

  typename StackOracle<Real>::Patches patches_of(std::span<const T> from, const std::vector<std::int64_t>& indices,
                                                 std::int64_t channel) const {
    typename StackOracle<Real>::Patches patches;
    for (const std::int64_t index : indices) {
      std::vector<Real>& patch = patches.emplace_back();
      for (const std::int64_t voxel : voxels_of(index)) patch.push_back(number(from, voxel, channel));
    }
    return patches;
  }
  [[nodiscard]] std::vector<std::int64_t> voxels_of(std::int64_t first) const {
    std::vector<std::int64_t> voxels;
    for (std::int64_t z = 0; z < step_.patch.z; ++z) {
      for (std::int64_t y = 0; y < step_.patch.y; ++y) {
        for (std::int64_t x = 0; x < step_.patch.x; ++x)
          voxels.push_back(first + (z * problem_.size.y + y) * problem_.size.x + x);
      }
    }
    return voxels;
  }

  /// Rounded to float32 and, in the definition, to the units that sums are made of.
  [[nodiscard]] Sum weight_of(Real stack, double window) const {
    const Real weight = stack * static_cast<Real>(window);
    if constexpr (std::is_same_v<Real, double>)
      return weight;
    else
      return std::max(std::llrint(static_cast<double>(weight) * kWeightUnits), 1LL);
  }
  [[nodiscard]] Sum estimate_of(Real estimate) const {
    if constexpr (std::is_same_v<Real, double>)
      return estimate;
    else
      return std::llrint(std::clamp(std::ldexp(static_cast<double>(estimate), fraction_bits()),
                                    -std::ldexp(1.0, value_bits_), std::ldexp(1.0, value_bits_)));
  }

  /// What a channel's noise is, of colours less: the root of the sum of the squares of the factors.
  [[nodiscard]] double sigma(std::int64_t channel) const {
    const double squares[] = {3 * (1.0 / 9), 2 * (1.0 / 4), (1.0 + 4.0 + 1.0) / 16};
    const double factor = problem_.channels == 1 ? 1 : std::sqrt(squares[channel]);
    return std::clamp(std::ldexp(problem_.sigma * factor, -exponent_), 0x1p-60, 0x1p60);
  }

  void filter(const std::vector<std::int64_t>& indices, std::int64_t channel) {
    auto stack = patches_of(volume_, indices, channel);
    stacks_.forward(stack);
    const Real weight = basic_.empty() ? keep_large(stack, channel) : weigh(stack, indices, channel);
    stacks_.backward(stack);
    for (std::size_t member = 0; member < indices.size(); ++member) {
      const std::vector<std::int64_t> voxels = voxels_of(indices[member]);
      for (std::size_t v = 0; v < voxels.size(); ++v) {
        Sums& sums = sums_[static_cast<std::size_t>(channel * voxels_ + voxels[v])];
        const Sum of_voxel = weight_of(weight, window_[v]);
        sums.estimates += of_voxel * estimate_of(stack[member][v]);
        sums.weights += of_voxel;
      }
    }
  }
  Real keep_large(typename StackOracle<Real>::Patches& stack, std::int64_t channel) const {
    const auto threshold = static_cast<float>(std::min(problem_.shrinkage * sigma(channel), 0x1p100));
    std::int64_t kept = 0;
    for (auto& patch : stack) {
      for (Real& coefficient : patch) {
        if (std::abs(coefficient) > static_cast<Real>(threshold))
          ++kept;
        else
          coefficient = 0;
      }
    }
    return 1 / static_cast<Real>(std::max<std::int64_t>(kept, 1));
  }
  Real weigh(typename StackOracle<Real>::Patches& stack, const std::vector<std::int64_t>& indices,
             std::int64_t channel) const {
    auto guide = patches_of(basic_, indices, channel);
    stacks_.forward(guide);
    const auto variance = static_cast<Real>(static_cast<float>(sigma(channel) * sigma(channel)));
    Sum energy = 0;
    for (std::size_t m = 0; m < stack.size(); ++m) {
      for (std::size_t v = 0; v < stack[m].size(); ++v) {
        const Real square = guide[m][v] * guide[m][v];
        const Real factor = square / (square + variance);
        stack[m][v] *= factor;
        if constexpr (std::is_same_v<Real, double>)
          energy += factor * factor;
        else
          energy += std::llrint(static_cast<double>(factor * factor) * kWeightUnits);
      }
    }
    if constexpr (std::is_same_v<Real, double>)
      return 1 / std::max(energy, 1.0);
    else
      return 1 / std::max(static_cast<Real>(energy) * static_cast<Real>(1 / kWeightUnits), Real(1));
  }

  const Denoise& problem_;
  const DenoiseStep& step_;
  std::span<const T> volume_;
  std::span<const T> basic_;
  StackOracle<Real> stacks_;
  std::vector<double> window_;
  std::int64_t voxels_;
  int exponent_ = 0;
  int value_bits_ = 0;
  std::vector<Sums> sums_;
};

/// a / 3 to the nearest whole number.
std::int64_t third(std::int64_t a) {
  return static_cast<std::int64_t>(std::floor((static_cast<double>(a) + 1.5) / 3));
}

template <class T>
std::vector<T> expected_step(const Denoise& problem, std::span<const T> volume, std::span<const T> basic,
                             float largest_beside) {
  const StepOracle<float, T> step(problem, volume, basic, largest_beside);
  const std::int64_t voxels = problem.size.product();
  std::vector<T> result(volume.begin(), volume.end());
  const auto is_number = [](T voxel) { return std::isfinite(static_cast<float>(voxel)); };
  for (std::int64_t i = 0; i < voxels; ++i) {
    std::vector<std::int64_t> units;  // none: no stack reaches the voxel
    for (std::int64_t c = 0; c < problem.channels && step.is_reached(i); ++c) units.push_back(step.units(c, i));
    if (units.size() == 3)
      units = {third(3 * units[0] + 3 * units[1] + 2 * units[2]), third(3 * units[0] - 4 * units[2]),
               third(3 * units[0] - 3 * units[1] + 2 * units[2])};
    for (std::int64_t c = 0; c < problem.channels; ++c) {
      const auto at = static_cast<std::size_t>(c * voxels + i);
      const bool is_basic = units.empty() && !basic.empty() && is_number(basic[at]);
      if (!is_number(result[at]) || (units.empty() && !is_basic)) continue;
      result[at] = is_basic ? basic[at] : step.voxel(units[static_cast<std::size_t>(c)]);
    }
  }
  return result;
}

template <class Real, class T>
std::vector<double> means(const Denoise& problem, std::span<const T> volume, std::span<const T> basic) {
  const StepOracle<Real, T> step(problem, volume, basic);
  std::vector<double> all;
  for (std::int64_t c = 0; c < problem.channels; ++c) {
    for (std::int64_t i = 0; i < problem.size.product(); ++i) all.push_back(step.mean(c, i));
  }
  return all;
}

}  // namespace

template <class T>
std::vector<T> expected_denoise(const Denoise& problem, std::span<const T> volume, std::span<const T> basic,
                                float largest_beside) {
  if (problem.sigma == 0) return {volume.begin(), volume.end()};
  const Denoise filled = with_profile(problem);
  if (problem.stage == DenoiseStage::wiener) return expected_step(filled, volume, basic, largest_beside);
  const std::vector<T> estimate = expected_step(filled, volume, std::span<const T>(), largest_beside);
  if (problem.stage == DenoiseStage::hard_threshold) return estimate;
  return expected_step(filled, volume, std::span<const T>(estimate), largest_beside);
}

template <class T>
std::vector<double> expected_means(const Denoise& problem, std::span<const T> volume, std::span<const T> basic,
                                   bool in_double) {
  const Denoise filled = with_profile(problem);
  return in_double ? means<double>(filled, volume, basic) : means<float>(filled, volume, basic);
}

template std::vector<std::uint8_t> expected_denoise(const Denoise&, std::span<const std::uint8_t>,
                                                    std::span<const std::uint8_t>, float);
template std::vector<std::uint16_t> expected_denoise(const Denoise&, std::span<const std::uint16_t>,
                                                     std::span<const std::uint16_t>, float);
template std::vector<float> expected_denoise(const Denoise&, std::span<const float>, std::span<const float>, float);
template std::vector<double> expected_means(const Denoise&, std::span<const float>, std::span<const float>, bool);

}  // namespace tessera::conformance
