// Sizes up to which the variants of cnn_layer that count in 32 bits take a problem, and memory that they may ask for.
#pragma once

#include <cstdint>

#include <tessera/ops/cnn_layer.h>

#include "backend/sentence.h"
#include "backend/variant.h"

namespace tessera::cuda {

/// Beyond this, images are computed in several launches.
inline constexpr std::int64_t kCnnLayerLargestWorkspace = std::int64_t{1} << 30;

/// Can one image's rows, columns, steps and pixels be numbered in 32 bits, tiles that reach over the edge included?
[[nodiscard]] inline backend::Verdict check_cnn_layer_sizes(const CnnLayer& problem) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 29;
  const auto check = [&](const char* name, std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product) && product <= kLargest) return backend::Verdict::yes();
    return backend::Verdict::no(backend::sentence(name, " of cnn_layer is ", a, b == 1 ? "" : " x ",
                                                  b == 1 ? "" : backend::sentence(b), ", but the limit is ", kLargest));
  };
  const std::int64_t places = problem.filter_height * problem.filter_width;
  for (const backend::Verdict& verdict :
       {check("the padded height", problem.height + 2 * problem.padding, 1),
        check("the padded width", problem.width + 2 * problem.padding, 1), check("stride", problem.stride, 1),
        check("output_channels", problem.output_channels, 1),
        check("input_channels times the filter", problem.input_channels + 16, places + 16),
        check("the convolution", problem.convolved_height() + 4, problem.convolved_width() + 4)}) {
    if (!verdict) return verdict;
  }
  return backend::Verdict::yes();
}

}  // namespace tessera::cuda
