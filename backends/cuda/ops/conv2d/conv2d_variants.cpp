// Lists the variants of conv2d, and launches naive and tiled. A new variant is a .cu file and a row below.
#include "ops/conv2d/conv2d_variants.h"

#include <algorithm>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_table.h"
#include "ops/conv2d/conv2d_launch.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

/// A group's share of the output; one thread a pixel.
struct Tile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  unsigned shared_bytes = 0;
};

/// One group for each tile; the kernels loop where rows or images are more than the card allows.
LaunchGrid grid_for(const Conv2d& problem, const Tile& tile, const DeviceLimits& card) {
  const auto groups = [&](std::int64_t extent, std::int64_t step, int axis) {
    const auto wanted = static_cast<std::uint64_t>((extent + step - 1) / step);
    return static_cast<unsigned>(std::min<std::uint64_t>(wanted, card.groups[axis]));
  };
  LaunchGrid grid;
  grid.groups = {groups(problem.output_width(), tile.columns, 0), groups(problem.output_height(), tile.rows, 1),
                 groups(problem.batch, 1, 2)};
  grid.group_size = {static_cast<unsigned>(tile.columns), static_cast<unsigned>(tile.rows), 1};
  grid.dynamic_shared_bytes = tile.shared_bytes;
  return grid;
}

template <class Pixel>
class Conv2dKernel final : public CudaKernel {
  using Sum = Conv2dSum<Pixel>;

 public:
  Conv2dKernel(CudaDevice& device, const Conv2d& problem, const Image& image, const std::string& function,
               const Tile& tile)
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

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Image& image,
                                      const std::string& function, const Tile& tile) {
  return for_pixel(problem.type, [&](auto pixel) -> std::unique_ptr<backend::Kernel> {
    return std::make_unique<Conv2dKernel<decltype(pixel)>>(static_cast<CudaDevice&>(device), problem, image, function,
                                                           tile);
  });
}

/// Columns alone are one group after another without end; the grid's first axis takes 2^31 - 1.
Verdict check_columns(const Conv2d& problem, const backend::Device& device, std::int64_t columns) {
  const std::uint64_t limit = static_cast<const CudaDevice&>(device).context()->limits().groups[0];
  const auto groups = static_cast<std::uint64_t>((problem.output_width() + columns - 1) / columns);
  if (groups <= limit) return Verdict::yes();
  return Verdict::no(sentence("width of conv2d is ", problem.width, ", which takes ", groups,
                              " groups side by side, but a launch takes ", limit, " at most"));
}

Verdict check_naive(const Conv2d& problem, const backend::Device& device) {
  return check_columns(problem, device, kConv2dNaiveColumns);
}

std::unique_ptr<backend::Kernel> make_naive(const Conv2d& problem, backend::Device& device, const Tuning&) {
  return make(problem, device, embedded::conv2d_naive, sentence("tessera_conv2d_naive_", to_string(problem.type)),
              {kConv2dNaiveRows, kConv2dNaiveColumns});
}

constexpr std::int64_t kSmallestTile = 8;

/// 47 x 47 numbers for the largest filter and tile are 35 KiB, less than every card has.
Tile tile_of(const Conv2d& problem, std::int64_t size) {
  const std::int64_t numbers = (size + problem.filter_height - 1) * (size + problem.filter_width - 1);
  return {size, size, static_cast<unsigned>(numbers * 4)};
}

Verdict check_tiled(const Conv2d& problem, const backend::Device& device) {
  return check_columns(problem, device, kSmallestTile);
}

std::vector<Tunable> tiled_tunables(const Conv2d&, const backend::Device&) {
  return {{"tile", "rows and columns of the output that one group computes", {8, 16, 32}, 32}};
}

std::unique_ptr<backend::Kernel> make_tiled(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const std::int64_t size = tuning.at("tile");
  return make(problem, device, embedded::conv2d_tiled,
              sentence("tessera_conv2d_tiled_", to_string(problem.type), "_", size), tile_of(problem, size));
}

}  // namespace

backend::VariantList<Conv2d> conv2d_variants() {
  return {
      conv2d_separable(),
      conv2d_marching(),
      {"tiled", "tile and halo in shared memory, one pixel a thread", check_tiled, tiled_tunables, make_tiled},
      conv2d_vendor_cudnn(),
      {"naive", "one thread a pixel, from device memory", check_naive, nullptr, make_naive},
  };
}

}  // namespace tessera::cuda
