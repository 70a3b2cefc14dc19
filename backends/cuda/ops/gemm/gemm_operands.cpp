// Kernels of one launch, on the problem as it stands.
#include "ops/gemm/gemm_operands.h"

#include <algorithm>

#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_kernel.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"

namespace tessera::cuda {
namespace {

/// One group for each tile; the kernels loop where that is more than the card allows.
LaunchGrid grid_for(const Gemm& problem, const GemmTile& tile, const DeviceLimits& card) {
  const auto groups = [&](std::int64_t extent, std::int64_t step, int axis) {
    const std::uint64_t wanted = static_cast<std::uint64_t>(mathematics::ceil_div(extent, step));
    return static_cast<unsigned>(std::min<std::uint64_t>(wanted, card.groups[axis]));
  };
  LaunchGrid grid;
  grid.groups = {groups(problem.n, tile.columns, 0), groups(problem.m, tile.rows, 1), groups(problem.batch, 1, 2)};
  grid.group_size = {tile.threads_x, tile.threads_y, 1};
  return grid;
}

template <class T>
class GemmKernel final : public CudaKernel {
 public:
  GemmKernel(const CudaDevice& device, const Gemm& problem, const Image& image, const std::string& function,
             const GemmTile& tile)
      : CudaKernel(device.context(), image, function, grid_for(problem, tile, device.context()->limits())),
        arguments_(gemm_arguments<T>(mathematics::gemm_as_computed(problem))) {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    if (arguments_.m == 0 || arguments_.n == 0 || arguments_.batch == 0) return;
    GemmArguments<T> arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.a = pointer_to<const T>(operands[0]);
    arguments.b = pointer_to<const T>(operands[1]);
    arguments.c = pointer_to<T>(operands[2]);
    enqueue(queue, arguments);
  }

 private:
  GemmArguments<T> arguments_;
};

}  // namespace

backend::Verdict check_gemm_type(const Gemm& problem, const backend::Device&) {
  if (problem.type == DataType::float32 || problem.type == DataType::float64) return backend::Verdict::yes();
  return backend::Verdict::no(
      backend::sentence("type of gemm is ", to_string(problem.type), ", but must be float32 or float64"));
}

std::unique_ptr<backend::Kernel> make_gemm_kernel(const Gemm& problem, const backend::Device& device,
                                                  const Image& image, const std::string& function,
                                                  const GemmTile& tile) {
  const auto& card = native(device);
  if (problem.type == DataType::float64) {
    return std::make_unique<GemmKernel<double>>(card, problem, image, function, tile);
  }
  return std::make_unique<GemmKernel<float>>(card, problem, image, function, tile);
}

}  // namespace tessera::cuda
