// What `tessera convolve` does, apart from its command line: an image file through a filter into another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tessera/tessera.h>

#include "tools/convolve/image_bands.h"
#include "tools/convolve/image_filter.h"

namespace tessera::tool {

struct Convolution {
  std::string input;   ///< "-": standard input
  std::string output;  ///< "-": standard output
  ImageFilter filter;
  std::optional<double> divisor = {};  ///< positive; nothing: what the filter says
  bool divides_by_sum = false;         ///< instead of a divisor
  double offset = 0;                   ///< in units of a sample
  double offset_share = 0;             ///< of the largest sample, added to it
  std::optional<bool> takes_absolute = {};
  bool flip = false;             ///< turn the filter by 180 degrees
  bool convolves_alpha = false;  ///< else an alpha channel is copied
  ImageBorder border = ImageBorder::mirror;
  std::int64_t most_pixels = 1'000'000'000;
  std::int64_t band_bytes = kBandBytes;
  bool replaces_input = false;  ///< else input and output must not be the same file
  KernelOptions kernel = {};
};

/// Seconds of the host's clock, and what ran.
struct ConvolutionReport {
  double compile_s = 0;
  double read_s = 0;
  double compute_s = 0;  ///< with the copies to the device and back
  double write_s = 0;
  std::string variants;
};

/// Memory does not grow with the image's height, unless it is interlaced. At an error, Interrupted among them, the
/// output is as it was before. UsageError for a sum that cannot divide and for a variant or tuning that does not exist;
/// Error for everything else.
[[nodiscard]] ConvolutionReport convolve(const Convolution& convolution, const Device& device);

}  // namespace tessera::tool
