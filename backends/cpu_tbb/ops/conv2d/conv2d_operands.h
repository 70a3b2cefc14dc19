// conv2d's operands as a kernel reads them: typed, with the weights in the type that sums are computed in.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/ops/conv2d.h>

#include "cpu_tbb_kernel.h"
#include "mathematics/conv2d_filter.h"

namespace tessera::cpu_tbb {

/// Sums of integers wrap around, which unsigned arithmetic is allowed to.
template <class Pixel>
using Conv2dSum = std::conditional_t<std::is_integral_v<Pixel>, std::uint32_t, float>;
/// An int32 is written through its bits.
template <class Pixel>
using Conv2dOutput = std::conditional_t<std::is_integral_v<Pixel>, std::int32_t, float>;

/// A pixel as a number to compute with.
template <class Sum, class Value>
[[nodiscard]] constexpr Sum conv2d_number(Value value) noexcept {
  if constexpr (std::is_same_v<Sum, std::uint32_t>) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  } else {
    return static_cast<Sum>(value);
  }
}

/// The weights of a problem as numbers to compute with.
template <class Sum>
[[nodiscard]] std::vector<Sum> conv2d_weights(const std::vector<double>& filter) {
  std::vector<Sum> weights;
  weights.reserve(filter.size());
  for (const double weight : filter) weights.push_back(mathematics::conv2d_weight<Sum>(weight));
  return weights;
}

/// One run's images.
template <class Pixel>
struct Conv2dImages {
  using Sum = Conv2dSum<Pixel>;
  using Output = Conv2dOutput<Pixel>;

  Conv2dImages(const Conv2d& conv2d, OperandAddresses operands)
      : problem(conv2d),
        image(reinterpret_cast<const Pixel*>(operands[0])),
        output(reinterpret_cast<Output*>(operands[1])),
        output_height(conv2d.output_height()),
        output_width(conv2d.output_width()) {}

  /// Rows of all images, counted through.
  [[nodiscard]] std::int64_t output_rows() const noexcept { return problem.batch * output_height; }
  [[nodiscard]] const Pixel* image_of(std::int64_t output_row) const noexcept {
    return image + output_row / output_height * problem.height * problem.width;
  }
  [[nodiscard]] Output* row_of(std::int64_t output_row) const noexcept { return output + output_row * output_width; }

  const Conv2d& problem;
  const Pixel* image;
  Output* output;
  std::int64_t output_height;
  std::int64_t output_width;
};

/// The kernel that calls `compute(executor, Conv2dImages<Pixel>)` with Pixel as the problem says. Without an output
/// there is nothing to do.
template <class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_conv2d_kernel(const Conv2d& problem, Compute compute) {
  return std::make_unique<CpuTbbKernel>(
      [problem, compute = std::move(compute)](Executor& executor, OperandAddresses operands) {
        if (problem.batch == 0 || problem.output_height() == 0 || problem.output_width() == 0) return;
        switch (problem.type) {
          case DataType::uint8: return compute(executor, Conv2dImages<std::uint8_t>(problem, operands));
          case DataType::int16: return compute(executor, Conv2dImages<std::int16_t>(problem, operands));
          case DataType::int32: return compute(executor, Conv2dImages<std::int32_t>(problem, operands));
          default: return compute(executor, Conv2dImages<float>(problem, operands));
        }
      });
}

}  // namespace tessera::cpu_tbb
