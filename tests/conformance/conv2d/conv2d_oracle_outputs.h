// What the self tests of conv2d share: a small problem, and every pixel of it as the oracle says.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "conformance/conv2d/conv2d_reference.h"

namespace tessera::conformance {

template <class T>
using Outputs = std::vector<typename Conv2dInputs<T>::Output>;
using Integers = Outputs<std::int32_t>;

inline Conv2d problem_of(DataType type, std::int64_t height, std::int64_t width, std::int64_t filter_height,
                         std::int64_t filter_width, std::vector<double> filter, Border border = Border::same) {
  return {.height = height,
          .width = width,
          .filter_height = filter_height,
          .filter_width = filter_width,
          .filter = std::move(filter),
          .border = border,
          .type = type};
}

/// Every pixel as the oracle says, rounded to the output's type.
template <class T>
Outputs<T> oracle(const Conv2d& problem, const std::vector<T>& images) {
  const Conv2dInputs<T> inputs{problem, images};
  Outputs<T> outputs;
  for (std::int64_t image = 0; image < problem.batch; ++image) {
    for (std::int64_t y = 0; y < problem.output_height(); ++y) {
      for (std::int64_t x = 0; x < problem.output_width(); ++x) {
        outputs.push_back(
            static_cast<typename Conv2dInputs<T>::Output>(conv2d_element(inputs, image, y, x).value.high));
      }
    }
  }
  return outputs;
}

}  // namespace tessera::conformance
