// A filter in integers, so that every device computes exactly the same sums: weights with decimals are scaled, and a
// filter whose sums would leave an int32 is split into parts, as a number is into digits.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/convolve/image_filter.h"

namespace tessera::tool {

/// The filter is (sum over the parts of factor * weights) / scale.
struct IntegerFilter {
  struct Part {
    std::int64_t factor = 1;
    std::vector<double> weights;  ///< integers; with 8-bit pixels no sum leaves an int32
  };
  std::vector<Part> parts;
  double scale = 1;
};

/// The scale is the smallest power of ten, up to 10^12, that makes every weight an integer. If there is none, it is the
/// largest for which all weights sum to less than 2^46 in size, and weights are rounded to it.
[[nodiscard]] IntegerFilter in_integers(const ImageFilter& filter);

}  // namespace tessera::tool
