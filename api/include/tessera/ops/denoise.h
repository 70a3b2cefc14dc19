// The operator denoise: removes white noise from a volume or an image by filtering stacks of patches that look alike
// together (BM3D: Dabov, Foi, Katkovnik, Egiazarian 2007; BM4D: Maggioni, Katkovnik, Egiazarian, Foi 2013).
#pragma once

#include <cstdint>
#include <string_view>

#include <tessera/buffer.h>
#include <tessera/export.h>
#include <tessera/host_operand.h>
#include <tessera/ops/patch_match.h>
#include <tessera/types.h>

namespace tessera {

/// Which of the two steps are computed.
enum class DenoiseStage : std::uint8_t {
  both,            ///< the hard threshold, and the Wiener filter on top of it
  hard_threshold,  ///< the first alone: its result is the basic estimate
  wiener,          ///< the second alone, with a basic estimate that is given
};

/// Sets of parameters (docs/decisions/0019 has them beside the papers').
enum class DenoiseProfile : std::uint8_t { fast, normal, high };

/// What a patch is multiplied with along each axis: an orthonormal matrix.
enum class PatchTransform : std::uint8_t {
  of_profile,  ///< the profile's
  haar,        ///< differences and means of halves, again and again; sides of 1, 2, 4, 8 or 16 voxels
  dct,         ///< cosines: DCT-II
};

/// Parameters of one of the steps. What is left as it is here, 0 or below, is the profile's.
struct DenoiseStep {
  PerAxis patch = {0, 0, 0};     ///< voxels, 1 to Denoise::kLargestSide along each axis
  PerAxis window = {0, 0, 0};    ///< candidates along each axis, as PatchMatch::window
  PerAxis step = {0, 0, 0};      ///< from one reference to the next
  std::int64_t max_patches = 0;  ///< of a stack, 1 to PatchMatch::kMostPatches; a power of two of them is filtered
  double threshold = 0;          ///< the largest distance that is kept, in sigma^2 for each voxel of a patch
  PatchTransform transform = PatchTransform::of_profile;
  double kaiser = -1;  ///< beta of the Kaiser window that weighs a patch's voxels, 0 (all alike) to kLargestKaiser

  bool operator==(const DenoiseStep&) const = default;
};

/// Estimates a volume without its noise, white and Gaussian with a standard deviation of `sigma`.
///
/// Each step finds a stack for every reference with patch_match(), the nearest 2^n patches of it; takes the stack apart
/// by `transform` along the axes of the patch and Haar's along the stack; shrinks the coefficients; puts the stack
/// together again; and gives every voxel the weighted mean of all estimates that were made of it. The hard threshold
/// keeps coefficients above `shrinkage` * sigma. The Wiener filter multiplies them with g^2 / (g^2 + sigma^2), where g
/// is the coefficient of the basic estimate, which is also what is matched; of both steps together the basic estimate
/// is a volume of the operator's type.
///
/// Images of three channels are red, green and blue. Stacks are those of their mean; filtered are, each by itself, the
/// mean, (red - blue) / 2 and (red - 2 green + blue) / 4, in which noise is that much weaker.
///
/// Every operation is defined (docs/decisions/0019): the result has the same bits on every device that keeps subnormal
/// numbers, however the volume is cut into slabs. Of float32 it is a multiple of 2^-18 or less of the volume's largest
/// magnitude. A voxel that is NaN or infinite is in no stack and is returned as it is. Of one that no stack reaches (it
/// stands between references, or there are many patches like its own, of which a stack keeps the first) the Wiener
/// filter returns the basic estimate, and the hard threshold what it is. With a sigma of 0 the result is the volume,
/// bit for bit. A sigma so large that no coefficient passes gives 0 everywhere.
struct Denoise {
  static constexpr std::string_view kName = "denoise";
  static constexpr std::int64_t kLargestSide = 16;    ///< of a patch
  static constexpr std::int64_t kLargestPatch = 512;  ///< voxels
  static constexpr double kLargestKaiser = 16;
  /// Estimates that one voxel may get: their weighted sums are exact in 64 bits.
  static constexpr std::int64_t kMostEstimates = std::int64_t{1} << 20;

  PerAxis size = {};          ///< voxels of the volume, along each axis at least a patch; z is 1 for an image
  std::int64_t channels = 1;  ///< 1, or 3: volumes of the colours, one behind the other
  double sigma = 0;           ///< of the noise, in units of the voxels; finite, at least 0
  /// What voxels usually span, by which profiles choose thresholds where there is little noise. 0: 255 of uint8, 65535
  /// of uint16, and not known of float32.
  double range = 0;
  DataType type = DataType::float32;  ///< of the volume: uint8, uint16 or float32
  DenoiseStage stage = DenoiseStage::both;
  DenoiseProfile profile = DenoiseProfile::normal;
  DenoiseStep hard = {};    ///< parameters of the hard threshold
  DenoiseStep wiener = {};  ///< and of the Wiener filter
  double shrinkage = 0;     ///< coefficients up to so many sigma are removed; 0: the profile's

  [[nodiscard]] constexpr bool has(DenoiseStage step) const noexcept {
    return stage == DenoiseStage::both || stage == step;
  }
  /// The stacks of a step with all its parameters: a patch_match of the volume, or of the basic estimate.
  [[nodiscard]] constexpr PatchMatch matching(const DenoiseStep& step) const noexcept {
    return {.size = size,
            .patch = step.patch,
            .window = step.window,
            .step = step.step,
            .max_patches = step.max_patches,
            .threshold = step.threshold * sigma * sigma * static_cast<double>(step.patch.product()),
            .type = type};
  }

  /// At most so many estimates of a voxel come from a step with all its parameters: patches that hold the voxel, in the
  /// stacks of all references whose windows reach it.
  [[nodiscard]] constexpr double most_estimates(const DenoiseStep& step) const noexcept {
    const PerAxis references = matching(step).references();
    const auto along = [](std::int64_t count, std::int64_t window, std::int64_t patch, std::int64_t apart) {
      const double reach = static_cast<double>(window) + static_cast<double>(patch);
      const double those_in_reach = reach / static_cast<double>(apart) + 2;
      return those_in_reach < static_cast<double>(count) ? those_in_reach : static_cast<double>(count);
    };
    const std::int64_t voxels = step.patch.product();
    return along(references.x, step.window.x, step.patch.x, step.step.x) *
           along(references.y, step.window.y, step.patch.y, step.step.y) *
           along(references.z, step.window.z, step.patch.z, step.step.z) *
           static_cast<double>(voxels < step.max_patches ? voxels : step.max_patches);
  }

  /// What it is run with. No operand may overlap another.
  struct Operands {
    ConstOperand volume;  ///< channels x size.z x size.y x size.x
    ConstOperand basic;   ///< the basic estimate, for stage wiener alone
    Operand result;       ///< like the volume
  };
  /// The same for stream(), in the host's memory. <tessera/ops/denoise_pieces.h> tells how it is cut.
  struct HostOperands {
    ConstHostOperand volume;
    ConstHostOperand basic;
    HostOperand result;
  };

  bool operator==(const Denoise&) const = default;
};

[[nodiscard]] TESSERA_API std::string_view to_string(DenoiseStage stage) noexcept;
[[nodiscard]] TESSERA_API std::string_view to_string(DenoiseProfile profile) noexcept;
[[nodiscard]] TESSERA_API std::string_view to_string(PatchTransform transform) noexcept;

/// The problem with every parameter that is left to the profile filled in; nothing is checked.
[[nodiscard]] TESSERA_API Denoise with_profile(const Denoise& problem);

}  // namespace tessera
