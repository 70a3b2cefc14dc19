// Cases of patch_match: names, fields and amount of work; the volume, made once and shared by every run.
#include "conformance/patch_match/patch_match_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "conformance/case_name.h"
#include "conformance/odd_sizes.h"
#include "conformance/patch_match/patch_match_run.h"
#include "conformance/problem_words.h"
#include "conformance/spec_case.h"

namespace tessera::conformance {

namespace {

/// Sequences of random numbers, by what they are for.
enum PatchSeed : std::uint64_t { kOfPatchVoxels = 1, kOfPatchSamples };

template <class T>
void fill_noise(std::span<T> voxels, Values values) {
  if constexpr (std::is_same_v<T, float>) {
    fill_values(voxels, values, kOfPatchVoxels);
  } else {
    fill_integers(voxels, kOfPatchVoxels);
  }
}

/// From 0 to 1: a ball with holes in a box on an empty ground, and noise of a twentieth.
double phantom_voxel(const PatchMatch& p, std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto from_centre = [](std::int64_t place, std::int64_t size) {
    return size == 1 ? 0.0 : 2.0 * static_cast<double>(place) / static_cast<double>(size - 1) - 1;
  };
  const double u = from_centre(x, p.size.x);
  const double v = from_centre(y, p.size.y);
  const double w = from_centre(z, p.size.z);
  double body = 0.1;
  if (std::max({std::abs(u), std::abs(v), std::abs(w)}) < 0.9) body = 0.3;
  if (u * u + v * v + w * w < 0.6) body = std::sin(17 * u) * std::sin(13 * v) > 0.5 ? 0.15 : 0.7;
  const auto index = static_cast<std::uint64_t>((z * p.size.y + y) * p.size.x + x);
  const double noise = static_cast<double>(random_bits(kOfPatchVoxels, index) >> 11) * 0x1p-53;
  return body + 0.1 * (noise - 0.5);
}

template <class T>
void fill_phantom(std::span<T> voxels, const PatchMatch& p) {
  constexpr double kTop = std::is_same_v<T, float> ? 1.0 : static_cast<double>(std::numeric_limits<T>::max());
  std::size_t index = 0;
  for (std::int64_t z = 0; z < p.size.z; ++z) {
    for (std::int64_t y = 0; y < p.size.y; ++y) {
      for (std::int64_t x = 0; x < p.size.x; ++x) voxels[index++] = static_cast<T>(kTop * phantom_voxel(p, x, y, z));
    }
  }
}

template <class T>
void fill_pairs(std::span<T> voxels, T first, T second) {
  for (std::size_t i = 0; i < voxels.size(); ++i)
    voxels[i] = ((random_bits(kOfPatchVoxels, i) >> 20) & 1) != 0 ? second : first;
}

template <class T>
std::vector<T> make_volume(const PatchSpec& spec) {
  std::vector<T> voxels(static_cast<std::size_t>(spec.problem.size.product()));
  const std::span<T> all(voxels);
  constexpr bool kIsFloat = std::is_same_v<T, float>;
  switch (spec.volume) {
    case PatchVolume::noise: fill_noise(all, spec.values); break;
    case PatchVolume::few: fill_pairs(all, T(0), T(1)); break;
    case PatchVolume::ends:
      fill_pairs(all, kIsFloat ? T(-1e18F) : std::numeric_limits<T>::min(),
                 kIsFloat ? T(1e18F) : std::numeric_limits<T>::max());
      break;
    case PatchVolume::constant: std::ranges::fill(voxels, T(200)); break;
    case PatchVolume::phantom: fill_phantom(all, spec.problem); break;
  }
  for (const auto& [index, value] : spec.plants) voxels.at(static_cast<std::size_t>(index)) = static_cast<T>(value);
  return voxels;
}

template <class T>
class PatchCase final : public SpecCase<PatchSpec> {
 public:
  explicit PatchCase(PatchSpec spec) : SpecCase(std::move(spec), patch_case_name) {}

  std::vector<Field> problem() const override { return patch_fields(spec().problem); }
  Work work() const override { return patch_work(spec().problem); }
  std::vector<std::unique_ptr<Case>> odd_neighbours() const override {
    return odd_neighbours_of(
        spec(),
        [](PatchMatch& p) {
          return std::array{&p.size.x, &p.size.y, &p.size.z};
        },
        make_patch_case);
  }
  std::unique_ptr<Run> prepare(const Device& device, const KernelOptions& options) const override {
    auto kernel = device.kernel(spec().problem, options);  // first: a refusal must cost no inputs
    return std::make_unique<PatchRun<T>>(device, std::move(kernel), data(), spec().misalignment);
  }

 private:
  std::shared_ptr<const PatchData<T>> data() const {
    // The expected stacks take long to compute, and a benchmark's case is prepared once for each variant and device.
    return data_.get(spec().purpose != Purpose::slow, [this] {
      auto made = std::make_shared<PatchData<T>>();
      made->volume = make_volume<T>(spec());
      made->reference =
          std::make_unique<PatchReference<T>>(spec().problem, std::span<const T>(made->volume), kOfPatchSamples);
      return made;
    });
  }

  CaseData<PatchData<T>> data_;
};

/// Candidates along one axis, of all references together.
double candidates_along(std::int64_t size, std::int64_t patch, std::int64_t window, std::int64_t step) {
  const std::int64_t last = size - patch;
  const auto of = [&](std::int64_t place) {
    const std::int64_t first = place - window / 2;
    return static_cast<double>(std::min(first + window, last + 1) - std::max<std::int64_t>(first, 0));
  };
  double sum = of(last);
  for (std::int64_t place = 0; place < last; place += std::min(step, last - place)) sum += of(place);
  return sum;
}

}  // namespace

std::unique_ptr<Case> make_patch_case(PatchSpec spec) {
  if (spec.problem.type == DataType::uint8) return std::make_unique<PatchCase<std::uint8_t>>(std::move(spec));
  if (spec.problem.type == DataType::uint16) return std::make_unique<PatchCase<std::uint16_t>>(std::move(spec));
  return std::make_unique<PatchCase<float>>(std::move(spec));
}

std::string patch_case_name(const PatchMatch& p) {
  std::string name = std::string(to_string(p.type)) + "_" + to_string(p.size) + "_p" + to_string(p.patch) + "_w" +
                     to_string(p.window) + "_s" + to_string(p.step) + "_n" + std::to_string(p.max_patches);
  if (!std::isinf(p.threshold) || p.threshold < 0) name += "_t" + number_for_name(p.threshold);
  return name;
}

Work patch_work(const PatchMatch& p) {
  const double pairs = candidates_along(p.size.x, p.patch.x, p.window.x, p.step.x) *
                       candidates_along(p.size.y, p.patch.y, p.window.y, p.step.y) *
                       candidates_along(p.size.z, p.patch.z, p.window.z, p.step.z);
  const auto references = static_cast<double>(p.references().product());
  const auto place_bytes = static_cast<double>(size_bytes(p.distance_type()) + size_bytes(DataType::int64));
  return {.flops = 2 * pairs * static_cast<double>(p.patch.product()),
          .bytes = static_cast<double>(p.size.product()) * static_cast<double>(size_bytes(p.type)) +
                   references * (4 + static_cast<double>(p.max_patches) * place_bytes)};
}

}  // namespace tessera::conformance
