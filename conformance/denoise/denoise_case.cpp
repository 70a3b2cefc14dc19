// Cases of denoise: names and amount of work; the volume, made once and shared by every run.
#include "conformance/denoise/denoise_case.h"
#include "conformance/patch_match/patch_match_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "conformance/case_name.h"
#include "conformance/denoise/denoise_run.h"
#include "conformance/inputs.h"
#include "conformance/odd_sizes.h"
#include "conformance/patch_match/patch_match_case.h"
#include "conformance/problem_words.h"
#include "conformance/spec_case.h"

namespace tessera::conformance {

namespace {

/// Sequences of random numbers, by what they are for.
enum DenoiseSeed : std::uint64_t { kOfDenoiseNoise = 1, kOfDenoiseRadius, kOfDenoiseEnds };

/// From 0 to 1: a textured ball on a ramp with a bar, each colour with a shade of its own.
double scene_voxel(const Denoise& p, std::int64_t channel, const PerAxis& at) {
  const auto from_centre = [](std::int64_t place, std::int64_t size) {
    return size == 1 ? 0.0 : 2.0 * static_cast<double>(place) / static_cast<double>(size - 1) - 1;
  };
  const double u = from_centre(at.x, p.size.x);
  const double v = from_centre(at.y, p.size.y);
  const double w = from_centre(at.z, p.size.z);
  const double shade = 0.08 * static_cast<double>(channel);
  double level = 0.3 + 0.1 * u - shade;
  if (u * u + v * v + w * w < 0.4)
    level = 0.55 + shade + 0.15 * std::sin(0.9 * static_cast<double>(at.x)) * std::sin(0.7 * static_cast<double>(at.y));
  if (std::abs(v - 0.7) < 0.1) level = 0.8 - 2 * shade;
  return level;
}

/// What voxels of the type are multiples of, from 0 to 1.
template <class T>
constexpr double kTopOf = std::is_same_v<T, float> ? 1.0 : static_cast<double>(std::numeric_limits<T>::max());

template <class T>
std::vector<T> make_volume(const DenoiseSpec& spec, bool is_noisy) {
  const Denoise& p = spec.problem;
  const std::int64_t voxels = p.size.product();
  std::vector<T> volume;
  for (std::int64_t i = 0; i < voxels * p.channels; ++i) {
    const PerAxis at{i % p.size.x, i / p.size.x % p.size.y, i / p.size.x / p.size.y % p.size.z};
    const auto index = static_cast<std::uint64_t>(i);
    double level = 0.6;
    if (spec.volume == DenoiseVolume::scene) level = scene_voxel(p, i / voxels, at);
    if (spec.volume == DenoiseVolume::ends) level = random_even(kOfDenoiseEnds, index) < 0.5 ? 0 : 1;
    if (spec.volume == DenoiseVolume::scene && is_noisy)
      level +=
          std::min(p.sigma / kTopOf<T> / spec.factor, 1.0) * random_normal(kOfDenoiseNoise, kOfDenoiseRadius, index);
    level = std::clamp(level, 0.0, 1.0) * kTopOf<T>;
    volume.push_back(static_cast<T>(std::is_same_v<T, float> ? level * spec.factor : std::round(level)));
  }
  for (const auto& [index, value] : spec.plants) volume.at(static_cast<std::size_t>(index)) = static_cast<T>(value);
  return volume;
}

template <class T>
class DenoiseCase final : public SpecCase<DenoiseSpec> {
 public:
  explicit DenoiseCase(DenoiseSpec spec) : SpecCase(std::move(spec), denoise_case_name) {}

  std::vector<Field> problem() const override { return denoise_fields(spec().problem); }
  Work work() const override { return denoise_work(spec().problem); }
  std::vector<std::unique_ptr<Case>> odd_neighbours() const override {
    return odd_neighbours_of(
        spec(),
        [](Denoise& p) {
          return std::array{&p.size.x, &p.size.y, &p.size.z};
        },
        make_denoise_case);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    auto kernel = device.kernel(spec().problem, options);  // first: a refusal must cost no inputs
    return std::make_unique<DenoiseRun<T>>(device, std::move(kernel), data(), spec().misalignment);
  }

 private:
  std::shared_ptr<const DenoiseData<T>> data() const {
    // The oracle takes long, and a benchmark's case is prepared once for each variant and device.
    return data_.get(spec().purpose != Purpose::slow, [this] {
      auto made = std::make_shared<DenoiseData<T>>();
      made->volume = make_volume<T>(spec(), true);
      if (spec().problem.stage == DenoiseStage::wiener) made->basic = make_volume<T>(spec(), false);
      made->reference = std::make_unique<DenoiseReference<T>>(spec().problem, std::span<const T>(made->volume),
                                                              std::span<const T>(made->basic));
      return made;
    });
  }

  CaseData<DenoiseData<T>> data_;
};

/// What a step has beside the profile, for the case's name.
std::string step_name(const char* word, const DenoiseStep& step) {
  std::string name;
  const auto add = [&](const char* what, const PerAxis& numbers) {
    if (numbers != PerAxis{0, 0, 0}) name += std::string(what) + to_string(numbers);
  };
  add("p", step.patch);
  add("w", step.window);
  add("s", step.step);
  if (step.max_patches != 0) name += "n" + std::to_string(step.max_patches);
  if (step.threshold != 0) name += "t" + number_for_name(step.threshold);
  if (step.transform != PatchTransform::of_profile) name += std::string(to_string(step.transform));
  if (step.kaiser != -1) name += "k" + number_for_name(step.kaiser);
  return name.empty() ? "" : "_" + std::string(word) + "_" + name;
}

}  // namespace

std::unique_ptr<Case> make_denoise_case(DenoiseSpec spec) {
  if (spec.problem.type == DataType::uint8) return std::make_unique<DenoiseCase<std::uint8_t>>(std::move(spec));
  if (spec.problem.type == DataType::uint16) return std::make_unique<DenoiseCase<std::uint16_t>>(std::move(spec));
  return std::make_unique<DenoiseCase<float>>(std::move(spec));
}

std::string denoise_case_name(const Denoise& p) {
  return std::string(to_string(p.type)) + "_" + to_string(p.size) + (p.channels == 3 ? "_colour" : "") + "_sigma" +
         number_for_name(p.sigma) + (p.range != 0 ? "_range" + number_for_name(p.range) : "") +
         (p.stage != DenoiseStage::both ? "_" + std::string(to_string(p.stage)) : "") +
         (p.profile != DenoiseProfile::normal ? "_" + std::string(to_string(p.profile)) : "") + step_name("h", p.hard) +
         step_name("w", p.wiener) + (p.shrinkage != 0 ? "_l" + number_for_name(p.shrinkage) : "");
}

Work denoise_work(const Denoise& problem) {
  const Denoise p = with_profile(problem);
  double flops = 0;
  const auto add = [&](const DenoiseStep& step, double transforms) {
    const auto references = static_cast<double>(p.matching(step).references().product());
    const auto voxels = static_cast<double>(step.patch.product());
    const auto sides = static_cast<double>(step.patch.x + step.patch.y + step.patch.z);
    // The matching's, and a product and a sum for each voxel and axis of each transform of a stack.
    flops += patch_work(p.matching(step)).flops +
             2 * references * voxels * transforms * static_cast<double>(p.channels * step.max_patches) * sides;
  };
  if (p.has(DenoiseStage::hard_threshold)) add(p.hard, 2);
  if (p.has(DenoiseStage::wiener)) add(p.wiener, 3);
  const double operands = p.stage == DenoiseStage::wiener ? 3 : 2;
  return {
      .flops = flops,
      .bytes = operands * static_cast<double>(p.size.product() * p.channels) * static_cast<double>(size_bytes(p.type))};
}

}  // namespace tessera::conformance
