// What the host code of conv2d's kernels shares: the problem as the kernels take it, the weights as they do, and the
// kernels of one launch with a thread for each pixel.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/ops/conv2d.h>

#include "backend/backend.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_kernel.h"
#include "mathematics/conv2d_filter.h"
#include "ops/conv2d/conv2d_arguments.h"

namespace tessera::cuda {

/// The problem without its operands.
template <class Pixel>
[[nodiscard]] Conv2dArguments<Pixel> conv2d_arguments(const Conv2d& problem) noexcept {
  Conv2dArguments<Pixel> arguments{};
  arguments.batch = problem.batch;
  arguments.height = problem.height;
  arguments.width = problem.width;
  arguments.output_height = problem.output_height();
  arguments.output_width = problem.output_width();
  arguments.filter_height = static_cast<int>(problem.filter_height);
  arguments.filter_width = static_cast<int>(problem.filter_width);
  arguments.anchor_y = static_cast<int>(problem.anchor_y);
  arguments.anchor_x = static_cast<int>(problem.anchor_x);
  return arguments;
}

/// The filter's weights, rounded as the type of the sums has it.
template <class Sum>
[[nodiscard]] std::vector<Sum> conv2d_weights(const Conv2d& problem) {
  std::vector<Sum> weights;
  for (const double weight : problem.filter) weights.push_back(mathematics::conv2d_weight<Sum>(weight));
  return weights;
}

/// Is there nothing to compute?
[[nodiscard]] inline bool is_empty(const Conv2d& problem) noexcept {
  return problem.batch == 0 || problem.output_height() == 0 || problem.output_width() == 0;
}

/// Calls `make(Pixel())` with the type of the problem's pixels.
template <class Make>
[[nodiscard]] std::unique_ptr<backend::Kernel> for_pixel(DataType type, const Make& make) {
  switch (type) {
    case DataType::uint8: return make(std::uint8_t());
    case DataType::int16: return make(std::int16_t());
    case DataType::int32: return make(std::int32_t());
    default: return make(float());
  }
}

/// A group's share of the output; one thread a pixel.
struct Conv2dTile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  unsigned shared_bytes = 0;
  bool threads_go_down = false;  ///< neighbouring threads have pixels below each other, not beside each other
};

/// A kernel of one function that takes Conv2dArguments.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_conv2d_kernel(const Conv2d& problem, backend::Device& device,
                                                                  const Image& image, const std::string& function,
                                                                  const Conv2dTile& tile);

/// Do groups of so many columns each fit beside each other into one launch?
[[nodiscard]] backend::Verdict check_columns(const Conv2d& problem, const backend::Device& device,
                                             std::int64_t columns);

}  // namespace tessera::cuda
