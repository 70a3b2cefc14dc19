// cnn_layer's operands as a kernel reads them: typed, with the layout turned into steps, and the rules of ReLU and
// pool.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <tessera/ops/cnn_layer.h>

#include "cpu_tbb_kernel.h"

namespace tessera::cpu_tbb {

/// Images with channels: element (image, channel, y, x) is at data[image * image_step + channel * channel_step +
/// y * row_step + x * column_step].
template <class T>
struct CnnImages {
  T* data = nullptr;
  std::int64_t image_step = 0;
  std::int64_t channel_step = 0;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;

  CnnImages(T* first, Layout layout, std::int64_t channels, std::int64_t height, std::int64_t width)
      : data(first),
        image_step(channels * height * width),
        channel_step(layout == Layout::nhwc ? 1 : height * width),
        row_step(layout == Layout::nhwc ? width * channels : width),
        column_step(layout == Layout::nhwc ? channels : 1) {}
  [[nodiscard]] T* at(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) const noexcept {
    return data + (image * image_step + channel * channel_step + y * row_step + x * column_step);
  }
};

/// The larger of two numbers, NaN if one is. std::max keeps its first argument where a comparison with NaN fails.
template <class T>
[[nodiscard]] constexpr T cnn_larger(T a, T b) noexcept {
  return a > b || a != a ? a : b;
}

/// max(0, x), NaN if x is.
template <class T>
[[nodiscard]] constexpr T cnn_rectified(T x) noexcept {
  return x < T(0) ? T(0) : x;
}

/// One run's operands. Weights are raw, or in whatever form the variant prepared them.
template <class T>
struct CnnOperands {
  CnnOperands(const CnnLayer& layer, OperandAddresses operands)
      : problem(layer),
        input(reinterpret_cast<const T*>(operands[0]), layer.layout, layer.input_channels, layer.height, layer.width),
        weights(reinterpret_cast<const T*>(operands[1])),
        bias(reinterpret_cast<const T*>(operands[2])),
        output(reinterpret_cast<T*>(operands[3]), layer.layout, layer.output_channels, layer.output_height(),
               layer.output_width()) {}

  [[nodiscard]] T bias_of(std::int64_t channel) const noexcept { return bias == nullptr ? T(0) : bias[channel]; }

  const CnnLayer& problem;
  CnnImages<const T> input;
  const T* weights;
  const T* bias;  ///< null without bias
  CnnImages<T> output;
};

/// The kernel that calls `compute(executor, CnnOperands<T>)` with T as the problem says. An empty batch is nothing to
/// do.
template <class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_cnn_layer_kernel(const CnnLayer& problem, Compute compute) {
  return std::make_unique<CpuTbbKernel>(
      [problem, compute = std::move(compute)](Executor& executor, OperandAddresses operands) {
        if (problem.batch == 0) return;
        if (problem.type == DataType::float32) return compute(executor, CnnOperands<float>(problem, operands));
        compute(executor, CnnOperands<double>(problem, operands));
      });
}

/// The same for one type and a variant that prepares its weights.
template <class T, class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_cnn_layer_kernel(const CnnLayer& problem, Compute compute,
                                                                     CpuTbbKernel::Preparation preparation) {
  return std::make_unique<CpuTbbKernel>(
      [problem, compute = std::move(compute)](Executor& executor, OperandAddresses operands) {
        if (problem.batch > 0) compute(executor, CnnOperands<T>(problem, operands));
      },
      std::move(preparation));
}

}  // namespace tessera::cpu_tbb
