// Kernels of one launch with a thread for each pixel.
#include "ops/conv2d/conv2d_operands.h"

#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "cuda_table.h"
#include "mathematics/division.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

/// One group for each tile; the kernels loop where rows or images are more than the card allows.
LaunchGrid grid_for(const Conv2d& problem, const Conv2dTile& tile, const DeviceLimits& card) {
  const auto groups = [&](std::int64_t extent, std::int64_t step, int axis) {
    const auto wanted = static_cast<std::uint64_t>(mathematics::ceil_div(extent, step));
    return static_cast<unsigned>(std::min<std::uint64_t>(wanted, card.groups[axis]));
  };
  LaunchGrid grid;
  grid.groups = {groups(problem.output_width(), tile.columns, 0), groups(problem.output_height(), tile.rows, 1),
                 groups(problem.batch, 1, 2)};
  grid.group_size = {static_cast<unsigned>(tile.columns), static_cast<unsigned>(tile.rows), 1};
  if (tile.threads_go_down) std::swap(grid.group_size[0], grid.group_size[1]);
  grid.dynamic_shared_bytes = tile.shared_bytes;
  return grid;
}

template <class Pixel>
class Conv2dKernel final : public CudaKernel {
  using Sum = Conv2dSum<Pixel>;

 public:
  Conv2dKernel(CudaDevice& device, const Conv2d& problem, const Image& image, const std::string& function,
               const Conv2dTile& tile)
      : CudaKernel(device.context(), image, function, grid_for(problem, tile, device.context()->limits())),
        arguments_(conv2d_arguments<Pixel>(problem)),
        is_empty_(is_empty(problem)),
        weights_(device, conv2d_weights<Sum>(problem)) {}

  [[nodiscard]] std::size_t held_bytes() const override { return weights_.size_bytes(); }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    if (is_empty_) return;
    Conv2dArguments<Pixel> arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.image = pointer_to<const Pixel>(operands[0]);
    arguments.output = pointer_to<Sum>(operands[1]);
    arguments.weights = weights_.begin<Sum>();
    enqueue(queue, arguments);
  }

 private:
  Conv2dArguments<Pixel> arguments_;
  bool is_empty_;
  CudaTable weights_;
};

}  // namespace

std::unique_ptr<backend::Kernel> make_conv2d_kernel(const Conv2d& problem, backend::Device& device, const Image& image,
                                                    const std::string& function, const Conv2dTile& tile) {
  return for_pixel(problem.type, [&](auto pixel) -> std::unique_ptr<backend::Kernel> {
    return std::make_unique<Conv2dKernel<decltype(pixel)>>(native(device), problem, image, function, tile);
  });
}

/// Columns alone are one group after another without end; the grid's first axis takes 2^31 - 1.
Verdict check_columns(const Conv2d& problem, const backend::Device& device, std::int64_t columns) {
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  const auto groups = static_cast<std::uint64_t>(mathematics::ceil_div(problem.output_width(), columns));
  if (groups <= limit) return Verdict::yes();
  return Verdict::no(sentence("width of conv2d is ", problem.width, ", which takes ", groups,
                              " groups side by side, but a launch takes ", limit, " at most"));
}

}  // namespace tessera::cuda
