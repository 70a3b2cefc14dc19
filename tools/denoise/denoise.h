// What `tessera denoise` does, apart from its command line: a file of images or volumes, without their noise, into
// another file of the same form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tessera/tessera.h>

#include "tools/denoise/volume_denoiser.h"
#include "tools/volumes/volume_file.h"

namespace tessera::tool {

/// What is computed: the operator denoise, block matching and filters of stacks; or nonlocal_means.
enum class DenoiseMethod : std::uint8_t { bm, nlm };

struct DenoiseRequest {
  std::string input = {};   ///< "-": standard input
  std::string output = {};  ///< "-": standard output
  /// Standard deviation of the noise, and what voxels usually span; in units of what stored numbers stand for. Nothing:
  /// estimated, of each volume by itself.
  std::optional<double> sigma = {};
  std::optional<double> range = {};
  DenoiseMethod method = DenoiseMethod::bm;
  DenoiseProfile profile = DenoiseProfile::normal;  ///< of nlm: the window
  std::int64_t most_pixels = 1'000'000'000;
  bool replaces_input = false;  ///< else input and output must not be the same file
  DenoisePlan plan = {};
};

struct DenoiseReport {
  VolumeHead head;
  double least_sigma = 0;  ///< of all volumes of the file
  double most_sigma = 0;
  std::string variant;
  double seconds = 0;
};

/// Nothing is left behind if it fails. Errors: of the file, as VolumeFile's; UsageError for a sigma, a range, a variant
/// or a tuning value that the operator refuses; those of the device.
[[nodiscard]] DenoiseReport denoise_file(const DenoiseRequest& request, const Device& device);

}  // namespace tessera::tool
