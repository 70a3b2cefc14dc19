// Options, arguments and shape of a conv2d launch.
#include "ops/conv2d/conv2d_images.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/conv2d_filter.h"
#include "opencl_buffer.h"
namespace tessera::opencl {

namespace {

using backend::sentence;

std::string pixel_type(DataType type) {
  switch (type) {
    case DataType::uint8: return "uchar";
    case DataType::int16: return "short";
    case DataType::int32: return "int";
    default: return "float";
  }
}

bool is_in_float(const Conv2d& problem, Conv2dSums sums) {
  return problem.type == DataType::float32 || sums == Conv2dSums::in_float;
}

/// Owns the weights' buffer beside the kernel that reads it.
class WeightedKernel final : public backend::Kernel {
 public:
  WeightedKernel(std::shared_ptr<OpenclContext> context, OperatorLaunch launch, std::span<const std::byte> weights)
      : weights_(std::move(context), weights), weights_bytes_(weights.size()) {
    launch.kernel->set(kConv2dWeights, weights_.native());
    kernel_ = std::make_unique<OpenclKernel>(std::move(launch));
  }
  [[nodiscard]] std::size_t held_bytes() const override { return weights_bytes_; }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    kernel_->launch(queue, operands, workspace);
  }

 private:
  OpenclBuffer weights_;
  std::size_t weights_bytes_;
  std::unique_ptr<OpenclKernel> kernel_;
};

}  // namespace

ProgramSource conv2d_program(std::string name, std::string_view text, const Conv2d& problem,
                             const std::string& more_options, Conv2dSums sums) {
  std::string options = "-cl-std=CL1.2 -DPIXEL=" + pixel_type(problem.type) +
                        " -DIS_FLOAT=" + (is_in_float(problem, sums) ? "1" : "0") + more_options;
  return {std::move(name), std::string(text), std::move(options)};
}

std::uint64_t conv2d_blocks(const Conv2d& problem, std::int64_t rows, std::int64_t columns) noexcept {
  return static_cast<std::uint64_t>(problem.batch) *
         static_cast<std::uint64_t>(ceil_div(problem.output_height(), rows)) *
         static_cast<std::uint64_t>(ceil_div(problem.output_width(), columns));
}

std::vector<std::uint32_t> conv2d_weight_bits(const Conv2d& problem, const std::vector<double>& weights,
                                              Conv2dSums sums) {
  std::vector<std::uint32_t> bits;
  for (const double weight : weights) {
    const auto in_float = mathematics::conv2d_weight<float>(weight);
    std::uint32_t word = mathematics::conv2d_weight<std::uint32_t>(weight);
    if (is_in_float(problem, sums)) std::memcpy(&word, &in_float, sizeof word);
    bits.push_back(word);
  }
  return bits;
}

Conv2dNumbers conv2d_numbers(const Conv2d& problem) {
  if (problem.type == DataType::float32 || !mathematics::is_exact_in_float32(problem)) {
    return {Conv2dSums::output_type, " -DEXACT_INTEGERS=0"};
  }
  return {Conv2dSums::in_float, " -DEXACT_INTEGERS=1"};
}

backend::Verdict check_group(const Conv2d& problem, const backend::Device& device, std::int64_t items,
                             std::int64_t local_bytes) {
  const DeviceInfo& info = native(device).facts().info;
  const auto wanted = static_cast<std::uint64_t>(items);
  if (wanted > info.max_group_size || wanted > info.max_group_extent[0]) {
    return backend::Verdict::no(sentence("conv2d in tiles takes work-groups of ", items, ", but '", info.name,
                                         "' allows ", std::min(info.max_group_size, info.max_group_extent[0])));
  }
  if (static_cast<std::uint64_t>(local_bytes) <= info.local_memory_bytes) return backend::Verdict::yes();
  return backend::Verdict::no(sentence("conv2d with a filter of ", problem.filter_height, " x ", problem.filter_width,
                                       " takes ", local_bytes, " bytes of local memory in tiles, but '", info.name,
                                       "' has ", info.local_memory_bytes));
}

backend::Verdict pays_in_tiles(const Conv2d& problem, const backend::Device& device, std::int64_t fewest_weights) {
  const DeviceInfo& info = native(device).facts().info;
  const std::int64_t weights = problem.filter_height * problem.filter_width;
  if (info.kind == DeviceKind::gpu || weights >= fewest_weights) return backend::Verdict::yes();
  return backend::Verdict::no(sentence("the filter of conv2d has ", weights, " weights, but on '", info.name,
                                       "', which is no GPU, these tiles pay from ", fewest_weights, " on"));
}

OperatorLaunch conv2d_launch(std::unique_ptr<CompiledKernel> kernel, const Conv2d& problem, const Conv2dShape& shape) {
  OperatorLaunch launch;
  launch.kernel = std::move(kernel);
  launch.range.dimensions = 2;
  launch.range.local = {static_cast<std::size_t>(shape.columns), static_cast<std::size_t>(shape.rows), 1};
  launch.range.global = {conv2d_blocks(problem, shape.block_rows, shape.block_columns) * launch.range.local[0],
                         launch.range.local[1], 1};
  launch.memory = {{0, problem.type, 0}, {1, problem.output_type(), 0}};
  launch.set_structs(Conv2dScalars{.height = problem.height,
                                   .width = problem.width,
                                   .output_height = problem.output_height(),
                                   .output_width = problem.output_width(),
                                   .block_rows = shape.block_rows,
                                   .filter_height = static_cast<cl_int>(problem.filter_height),
                                   .filter_width = static_cast<cl_int>(problem.filter_width),
                                   .anchor_y = static_cast<cl_int>(problem.anchor_y),
                                   .anchor_x = static_cast<cl_int>(problem.anchor_x)});
  return launch;
}

std::unique_ptr<backend::Kernel> bind_conv2d_weights(OperatorLaunch launch, const std::vector<std::uint32_t>& weights,
                                                     backend::Device& device) {
  return std::make_unique<WeightedKernel>(native(device).context(), std::move(launch),
                                          std::as_bytes(std::span(weights)));
}

}  // namespace tessera::opencl
