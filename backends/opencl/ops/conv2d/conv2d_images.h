// What the host code of every conv2d kernel shares: the program's source and options, the launch, the weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/ops/conv2d.h>

#include "backend/variant.h"
#include "opencl_device.h"
#include "opencl_kernel.h"
#include "opencl_launch_shape.h"

namespace tessera::opencl {

/// What a kernel sums in: the output's type, or float for integers where that is exact.
enum class Conv2dSums : std::uint8_t { output_type, in_float };

/// The program `text` with the types of pixels and sums as options, and `more_options` of the variant's own. `name` is
/// for errors.
[[nodiscard]] ProgramSource conv2d_program(std::string name, std::string_view text, const Conv2d& problem,
                                           const std::string& more_options = {},
                                           Conv2dSums sums = Conv2dSums::output_type);

/// Work-groups that it takes to cover every output of the batch with blocks of rows x columns.
[[nodiscard]] std::uint64_t conv2d_blocks(const Conv2d& problem, std::int64_t rows, std::int64_t columns) noexcept;

/// Weights as the kernels take them: float, or int32 as it lies in memory.
[[nodiscard]] std::vector<std::uint32_t> conv2d_weight_bits(const Conv2d& problem, const std::vector<double>& weights,
                                                            Conv2dSums sums = Conv2dSums::output_type);

/// What a kernel of conv2d_local_rows.cl sums in: integers in float where that is exact, because GPUs multiply floats
/// at twice the rate; and the option that says so.
struct Conv2dNumbers {
  Conv2dSums sums = Conv2dSums::output_type;
  std::string_view option;
};
[[nodiscard]] Conv2dNumbers conv2d_numbers(const Conv2d& problem);

/// Does the device run groups of so many work-items with so much local memory?
[[nodiscard]] backend::Verdict check_group(const Conv2d& problem, const backend::Device& device, std::int64_t items,
                                           std::int64_t local_bytes);

/// Do tiles of conv2d_local_rows.cl pay? On a GPU always. A processor has no local memory but its caches: there they do
/// for filters of so many weights and more.
[[nodiscard]] backend::Verdict pays_in_tiles(const Conv2d& problem, const backend::Device& device,
                                             std::int64_t fewest_weights);

/// Conv2d of conv2d_images.cl.
struct Conv2dScalars {
  cl_long height, width;
  cl_long output_height, output_width;
  cl_long block_rows;
  cl_int filter_height, filter_width;
  cl_int anchor_y, anchor_x;
};
static_assert(sizeof(Conv2dScalars) == 56 && offsetof(Conv2dScalars, anchor_x) == 52, "conv2d_images.cl says so too");

/// A launch of the kernel with CONV2D_PARAMETERS set: groups of columns x rows work-items in one line, each for a block
/// of block_columns x block_rows of the output.
struct Conv2dShape {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t block_rows = 1;
  std::int64_t block_columns = 1;
};
[[nodiscard]] OperatorLaunch conv2d_launch(std::unique_ptr<CompiledKernel> kernel, const Conv2d& problem,
                                           const Conv2dShape& shape);
/// The parameter behind those: the weights, in a buffer or by value.
inline constexpr cl_uint kConv2dWeights = 2 * 2 + 1;

/// The kernel of one launch whose next parameter is the weights in a buffer of their own. `weights`: as
/// conv2d_weight_bits() gives them.
[[nodiscard]] std::unique_ptr<backend::Kernel> bind_conv2d_weights(OperatorLaunch launch,
                                                                   const std::vector<std::uint32_t>& weights,
                                                                   backend::Device& device);

}  // namespace tessera::opencl
