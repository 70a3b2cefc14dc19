// The parameters of denoise's profiles. docs/decisions/0019 says how they were found.
#include <tessera/ops/denoise.h>

#include <algorithm>

namespace tessera {

namespace {

/// A step's parameters along the axes of an image; a volume has the same along z.
struct ProfileStep {
  std::int64_t patch;
  std::int64_t window;
  std::int64_t step;
  std::int64_t max_patches;
  double threshold;
  PatchTransform transform;
  double kaiser;
};
struct Profile {
  ProfileStep hard;
  ProfileStep wiener;
  double shrinkage;
};

constexpr auto kHaar = PatchTransform::haar;
constexpr auto kDct = PatchTransform::dct;

constexpr Profile kImageFast{{8, 19, 4, 16, 20, kHaar, 2}, {6, 19, 4, 16, 0.6, kDct, 1}, 2.75};
constexpr Profile kImageNormal{{8, 39, 3, 16, 20, kHaar, 2}, {6, 39, 3, 32, 0.6, kDct, 1}, 2.75};
constexpr Profile kImageHigh{{8, 39, 2, 16, 20, kHaar, 2}, {6, 39, 1, 32, 0.6, kDct, 1}, 2.75};
constexpr Profile kVolumeFast{{4, 15, 3, 32, 4, kHaar, 1}, {4, 15, 3, 32, 0.4, kDct, 1}, 2.9};
constexpr Profile kVolumeNormal{{4, 15, 2, 32, 4, kHaar, 1}, {4, 15, 2, 32, 0.4, kDct, 1}, 2.9};
constexpr Profile kVolumeHigh{{4, 15, 2, 32, 4, kHaar, 1}, {4, 15, 1, 32, 0.4, kDct, 1}, 2.9};
/// Of much noise, so large a part of the range that voxels span, a small patch holds too little beside it: from there
/// on the Wiener filter's patches of images have this side.
constexpr double kMuchNoise = 40.0 / 255;
constexpr std::int64_t kSideInMuchNoise = 7;
/// Differences that a threshold lets pass, whatever sigma: parts of the range that voxels span. Where there is little
/// noise, patches differ by what they show.
constexpr double kHardDifference = 20.0 / 255;
constexpr double kWienerDifference = 10.0 / 255;

const Profile& parameters_of(DenoiseProfile profile, bool is_image) noexcept {
  switch (profile) {
    case DenoiseProfile::fast: return is_image ? kImageFast : kVolumeFast;
    case DenoiseProfile::high: return is_image ? kImageHigh : kVolumeHigh;
    case DenoiseProfile::normal: break;
  }
  return is_image ? kImageNormal : kVolumeNormal;
}

void fill(PerAxis& numbers, std::int64_t profile, std::int64_t along_z) noexcept {
  if (numbers.x == 0) numbers.x = profile;
  if (numbers.y == 0) numbers.y = profile;
  if (numbers.z == 0) numbers.z = along_z;
}

double usual_range(const Denoise& problem) noexcept {
  if (problem.range > 0 || problem.type == DataType::float32) return problem.range;
  return problem.type == DataType::uint8 ? 255 : 65535;
}

/// False where the range is not known.
bool has_much_noise(const Denoise& problem) noexcept {
  const double range = usual_range(problem);
  return range > 0 && problem.sigma >= kMuchNoise * range;
}

/// In sigma^2.
double threshold_of(const Denoise& problem, double profile, double difference) noexcept {
  if (!(problem.sigma > 0)) return profile;
  const double in_sigma = difference * usual_range(problem) / problem.sigma;
  return std::max(profile, in_sigma * in_sigma);
}

void fill(DenoiseStep& step, const ProfileStep& profile, bool is_image, double threshold) noexcept {
  fill(step.patch, profile.patch, is_image ? 1 : profile.patch);
  fill(step.window, profile.window, is_image ? 1 : profile.window);
  fill(step.step, profile.step, is_image ? 1 : profile.step);
  if (step.max_patches == 0) step.max_patches = profile.max_patches;
  if (step.threshold == 0) step.threshold = threshold;
  if (step.transform == PatchTransform::of_profile) step.transform = profile.transform;
  if (step.kaiser == -1) step.kaiser = profile.kaiser;
}

}  // namespace

Denoise with_profile(const Denoise& problem) {
  Denoise filled = problem;
  const bool is_image = problem.size.z == 1;
  Profile profile = parameters_of(problem.profile, is_image);
  if (is_image && has_much_noise(problem)) profile.wiener.patch = kSideInMuchNoise;
  fill(filled.hard, profile.hard, is_image, threshold_of(problem, profile.hard.threshold, kHardDifference));
  fill(filled.wiener, profile.wiener, is_image, threshold_of(problem, profile.wiener.threshold, kWienerDifference));
  if (filled.shrinkage == 0) filled.shrinkage = profile.shrinkage;
  return filled;
}

std::string_view to_string(DenoiseStage stage) noexcept {
  switch (stage) {
    case DenoiseStage::hard_threshold: return "hard_threshold";
    case DenoiseStage::wiener: return "wiener";
    case DenoiseStage::both: break;
  }
  return "both";
}

std::string_view to_string(DenoiseProfile profile) noexcept {
  switch (profile) {
    case DenoiseProfile::fast: return "fast";
    case DenoiseProfile::high: return "high";
    case DenoiseProfile::normal: break;
  }
  return "normal";
}

std::string_view to_string(PatchTransform transform) noexcept {
  switch (transform) {
    case PatchTransform::haar: return "haar";
    case PatchTransform::dct: return "dct";
    case PatchTransform::of_profile: break;
  }
  return "of_profile";
}

}  // namespace tessera
