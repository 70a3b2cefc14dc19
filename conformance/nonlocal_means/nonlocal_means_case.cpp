// Cases of nonlocal_means: names and amount of work; the volume, made once and shared by every run.
#include "conformance/nonlocal_means/nonlocal_means_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "conformance/case_name.h"
#include "conformance/inputs.h"
#include "conformance/nonlocal_means/nonlocal_means_run.h"
#include "conformance/odd_sizes.h"
#include "conformance/problem_words.h"
#include "conformance/spec_case.h"

namespace tessera::conformance {

namespace {

/// Sequences of random numbers, by what they are for.
enum MeansSeed : std::uint64_t { kOfMeansAngle = 11, kOfMeansRadius, kOfMeansEnds };

/// From 0 to 1: a textured ball on a ramp, each colour with a shade of its own.
double clean_voxel(const NonlocalMeans& p, std::int64_t channel, const PerAxis& at) {
  const auto from_centre = [](std::int64_t place, std::int64_t size) {
    return size == 1 ? 0.0 : 2.0 * static_cast<double>(place) / static_cast<double>(size - 1) - 1;
  };
  const double u = from_centre(at.x, p.size.x);
  const double v = from_centre(at.y, p.size.y);
  const double w = from_centre(at.z, p.size.z);
  const double shade = 0.08 * static_cast<double>(channel);
  if (u * u + v * v + w * w < 0.4)
    return 0.55 + shade + 0.15 * std::sin(0.9 * static_cast<double>(at.x)) * std::sin(0.7 * static_cast<double>(at.y));
  return 0.3 + 0.1 * u - shade;
}

template <class T>
constexpr double kLargestOf = std::is_same_v<T, float> ? 1.0 : static_cast<double>(std::numeric_limits<T>::max());

template <class T>
std::vector<T> make_means_volume(const MeansSpec& spec) {
  const NonlocalMeans& p = spec.problem;
  const std::int64_t voxels = p.size.product();
  std::vector<T> volume;
  for (std::int64_t i = 0; i < voxels * p.channels; ++i) {
    const PerAxis at{i % p.size.x, i / p.size.x % p.size.y, i / p.size.x / p.size.y % p.size.z};
    const auto index = static_cast<std::uint64_t>(i);
    double level = 0.6;
    if (spec.volume == MeansVolumeContent::ends) level = random_even(kOfMeansEnds, index) < 0.5 ? 0 : 1;
    if (spec.volume == MeansVolumeContent::scene)
      level = clean_voxel(p, i / voxels, at) + std::min(p.sigma / kLargestOf<T> / spec.factor, 1.0) *
                                                   random_normal(kOfMeansAngle, kOfMeansRadius, index);
    level = std::clamp(level, 0.0, 1.0) * kLargestOf<T>;
    volume.push_back(static_cast<T>(std::is_same_v<T, float> ? level * spec.factor : std::round(level)));
  }
  for (const auto& [index, value] : spec.plants) volume.at(static_cast<std::size_t>(index)) = static_cast<T>(value);
  return volume;
}

template <class T>
class MeansCase final : public SpecCase<MeansSpec> {
 public:
  explicit MeansCase(MeansSpec spec) : SpecCase(std::move(spec), means_case_name) {}

  std::vector<Field> problem() const override { return means_fields(spec().problem); }
  Work work() const override { return means_work(spec().problem); }
  std::vector<std::unique_ptr<Case>> odd_neighbours() const override {
    return odd_neighbours_of(
        spec(),
        [](NonlocalMeans& p) {
          return std::array{&p.size.x, &p.size.y, &p.size.z};
        },
        make_means_case);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    auto kernel = device.kernel(spec().problem, options);  // first: a refusal must cost no inputs
    return std::make_unique<MeansRun<T>>(device, std::move(kernel), reference(), spec().misalignment);
  }

 private:
  std::shared_ptr<const MeansReference<T>> reference() const {
    return reference_.get(true, [this] {
      return std::make_shared<const MeansReference<T>>(spec().problem, make_means_volume<T>(spec()));
    });
  }

  CaseData<MeansReference<T>> reference_;
};

}  // namespace

std::unique_ptr<Case> make_means_case(MeansSpec spec) {
  if (spec.problem.type == DataType::uint8) return std::make_unique<MeansCase<std::uint8_t>>(std::move(spec));
  if (spec.problem.type == DataType::uint16) return std::make_unique<MeansCase<std::uint16_t>>(std::move(spec));
  return std::make_unique<MeansCase<float>>(std::move(spec));
}

std::string means_case_name(const NonlocalMeans& p) {
  const auto unless_usual = [](const char* letter, const PerAxis& numbers) {
    return numbers == PerAxis{0, 0, 0} ? std::string() : letter + to_string(numbers);
  };
  return std::string(to_string(p.type)) + "_" + to_string(p.size) + (p.channels == 3 ? "_colour" : "") + "_sigma" +
         number_for_name(p.sigma) + (p.strength != 0 ? "_h" + number_for_name(p.strength) : "") +
         unless_usual("_p", p.patch) + unless_usual("_w", p.window);
}

Work means_work(const NonlocalMeans& problem) {
  const NonlocalMeans p = with_usual_parameters(problem);
  const auto along = [&](std::int64_t PerAxis::*axis) {
    return static_cast<double>(std::min(p.window.*axis, p.size.*axis));
  };
  const auto voxels = static_cast<double>(p.size.product());
  const auto channels = static_cast<double>(p.channels);
  const double pairs = voxels * along(&PerAxis::x) * along(&PerAxis::y) * along(&PerAxis::z);
  return {.flops = 2 * pairs * channels * (static_cast<double>(p.patch.product()) + 1),
          .bytes = 2 * voxels * channels * static_cast<double>(size_bytes(p.type))};
}

}  // namespace tessera::conformance
