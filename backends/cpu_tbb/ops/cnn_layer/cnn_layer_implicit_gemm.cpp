// The variant "implicit_gemm": the convolution as a product of matrices, weights times patches, in gemm's register tile
// (14 channels x 32 sums in AVX-512), without ever writing the patches out.
//
//                             planes of a few channels, 2nd-level cache   A chunk is a block of outputs and a group of
//                          c0 |--------------------------|                channels. Its sums stay in the second-level
//     weights, packed         | row (c, i, j): a run at  |                cache while the products pass by, step after
//     panel of 14 channels    | its own offset           |                step: the pixels of some channels are packed
//     +-- step of <= 192 --+  |--------------------------| c1             with the padding around them
//     |                    |     sums, 14 x 32 at a time                  (cnn_layer_planes.h), then each panel of
//     |                    |  x  +------+------+------+                   weights is multiplied with all of them.
//     +--------------------+     | tile | tile | tile |  += in registers
//                                +------+------+------+
//
// A pixel is packed once for each block that its row belongs to, and read from the packed planes once for each panel
// of 14 channels and each place of the filter. A weight is read once for each block. Bias, ReLU and pool are computed
// while the sums are in the cache, and only pooled outputs are written. The sum of an output is added up in the same
// steps whatever the blocks are.
//
// Sums lie in runs as pixels do, so between two rows of sums lie some that mean nothing. In narrow images computing
// these is more work than packing. There each column of the filter has planes of its own, so that rows of sums follow
// each other without gaps. On a core of a Xeon, 256 -> 512 channels, 3 x 3, 28 x 28, that took the variant from 0.88 of
// oneDNN's speed to 0.91.
//
// Images of few sums are computed several at a time, side by side as one image, where a batch has them: they leave less
// of the tiles empty, and share what is brought of the weights. On two cores of an EPYC, in batches of 8 at 7 x 7,
// 512 -> 2048 channels, 1 x 1, takes 0.84 of the time so, 2048 -> 512 0.80, and 512 -> 512, 3 x 3, 0.84 (without a
// file).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu_tbb_device.h"
#include "ops/cnn_layer/cnn_layer_blocks.h"
#include "ops/cnn_layer/cnn_layer_finish.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_plan.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/cnn_layer/cnn_layer_pixel_rows.h"
#include "ops/cnn_layer/cnn_layer_planes.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// The memory of one thread.
template <class T>
class Workspace {
 public:
  Workspace(ScratchPool& pool, const ImplicitGemmPlan<T>& plan) : Workspace(pool, plan, plan.largest_grid()) {}
  T* planes;
  T* sums;
  T* row;
  std::int64_t* offsets;  ///< of a step's products, in the planes
  std::int64_t* taps;     ///< of the filter's weights, in the planes of one channel

 private:
  Workspace(ScratchPool& pool, const ImplicitGemmPlan<T>& plan, const PatchGrid& grid)
      : planes_size_(aligned(plan.channels_of_step() * grid.channel_size() + kPlanesSlack)),
        sums_size_(aligned(plan.groups().size(0) * plan.sums_step(grid) + kSumsSlack)),
        row_size_(grid.columns + kSumsSlack),
        loan_(pool, static_cast<std::size_t>(planes_size_ + sums_size_ + row_size_) * sizeof(T) +
                        static_cast<std::size_t>(kRegisterDepth<T> + aligned(plan.filter())) * sizeof(std::int64_t)) {
    offsets = reinterpret_cast<std::int64_t*>(loan_.data());
    taps = offsets + kRegisterDepth<T>;
    planes = reinterpret_cast<T*>(taps + aligned(plan.filter()));
    sums = planes + planes_size_;
    row = sums + sums_size_;
  }
  /// Rounded up, so that what lies behind so many elements begins at a cache line.
  static std::int64_t aligned(std::int64_t elements) { return (elements + 15) / 16 * 16; }

  std::int64_t planes_size_;
  std::int64_t sums_size_;
  std::int64_t row_size_;
  ScratchPool::Loan loan_;
};

/// A panel of one step, to be brought nearer: channels from one on.
template <class T>
Prefetch weights_of(const CnnOperands<T>& layer, const PanelLayout<T>& layout, std::int64_t step, std::int64_t channel,
                    std::int64_t channels) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  return {layer.weights + layout.offset_of_channel(step, channel), channels, layout.steps().size(step) * kSize,
          kRegisterDepth<T> * kSize};
}

/// Adds one step of products to the sums of a group's channels, from first_output on.
template <class T>
void add_step(const CnnOperands<T>& layer, const ImplicitGemmPlan<T>& plan, const Workspace<T>& workspace,
              const CnnBlock& block, const PatchGrid& grid, std::int64_t step, std::int64_t first_output,
              const EqualParts& panels) {
  const CnnLayer& p = layer.problem;
  const PanelLayout<T>& layout = plan.layout();
  const std::int64_t first = layout.steps().first(step);
  const std::int64_t depth = layout.steps().size(step);
  const std::int64_t first_channel = first / plan.filter();
  const std::int64_t last_channel = (first + depth - 1) / plan.filter();
  const PatchCorner corner{block.image, block.sum_y * p.stride - p.padding, block.sum_x * p.stride - p.padding};
  T* const planes = workspace.planes;
  const std::int64_t channels = last_channel - first_channel + 1;
  if (layer.input.column_step == 1) {
    for (std::int64_t channel = 0; channel < channels; ++channel)
      pack_planes(layer, corner, first_channel + channel, grid, planes + channel * grid.channel_size());
  } else {
    pack_planes_of_channels(layer, corner, first_channel, channels, grid, planes);
  }
  std::fill_n(planes + channels * grid.channel_size(), kPlanesSlack, T(0));
  std::int64_t tap = first % plan.filter();
  std::int64_t channel_offset = 0;
  for (std::int64_t k = 0; k < depth; ++k) {
    workspace.offsets[k] = channel_offset + workspace.taps[tap];
    if (++tap < plan.filter()) continue;
    tap = 0;
    channel_offset += grid.channel_size();
  }
  PanelProduct<T> product;
  product.b = workspace.planes;
  product.b_offsets = workspace.offsets;
  product.sliver_step = register_tile<T>().columns;
  product.ldc = product.columns = plan.sums_step(grid);
  product.depth = depth;
  product.alpha = T(1);
  product.beta = step == 0 ? T(0) : T(1);
  product.c = workspace.sums;
  for (std::int64_t panel = 0; panel < panels.parts; ++panel) {
    product.a = layer.weights + layout.offset_of_channel(step, first_output + panels.first(panel));
    product.rows = panels.size(panel);
    const std::int64_t next = (panel + 1) % panels.parts;
    product.next = weights_of(layer, layout, next == 0 ? (step + 1) % layout.steps().parts : step,
                              first_output + panels.first(next), panels.size(next));
    multiply_panel(product);
    product.c += product.rows * product.ldc;
  }
}

/// Outputs whose channels lie beside each other are written for so many columns of all channels together, so that the
/// lines that they share are complete before they leave the first-level cache.
constexpr std::int64_t kColumnsOfChannels = 16;

/// Writes the outputs of channels [first, last), whose sums are complete.
template <class T>
void finish_block(const CnnOperands<T>& layer, const Workspace<T>& workspace, const CnnBlock& block,
                  const PatchGrid& grid, std::int64_t sums_step, std::int64_t first, std::int64_t last) {
  const CnnLayer& p = layer.problem;
  // Rows that lie behind each other, as sums and as outputs, are one.
  const bool are_one = block.images == 1 && p.pool_size == 1 && p.pool_stride == 1 && grid.pitch() == block.columns &&
                       layer.output.row_step == block.columns * layer.output.column_step;
  const std::int64_t rows = are_one ? 1 : block.rows;
  const std::int64_t columns = are_one ? block.rows * block.columns : block.columns;
  const auto finish = [&](std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x,
                          std::int64_t count) {
    finish_row<T>(
        {.sums = workspace.sums + (channel - first) * sums_step + image * grid.segment() +
                 (y * grid.pitch() + x) * p.pool_stride,
         .sums_step = grid.pitch(),
         .pool_size = p.pool_size,
         .pool_stride = p.pool_stride,
         .bias = layer.bias_of(channel),
         .relu = p.relu,
         .scratch = workspace.row,
         .output = layer.output.at(block.image + image, channel, block.y + y, block.x) + x * layer.output.column_step,
         .output_step = layer.output.column_step,
         .columns = count});
  };
  if (layer.output.column_step == 1) {
    for (std::int64_t image = 0; image < block.images; ++image) {
      for (std::int64_t channel = first; channel < last; ++channel) {
        for (std::int64_t y = 0; y < rows; ++y) finish(image, channel, y, 0, columns);
      }
    }
    return;
  }
  for (std::int64_t row = 0; row < block.images * rows; ++row) {
    for (std::int64_t x = 0; x < columns; x += kColumnsOfChannels) {
      const std::int64_t count = std::min(kColumnsOfChannels, columns - x);
      for (std::int64_t channel = first; channel < last; ++channel) finish(row / rows, channel, row % rows, x, count);
    }
  }
}

template <class T>
void compute(Executor& executor, const CnnOperands<T>& layer, const ImplicitGemmPlan<T>& plan) {
  const CnnLayer& p = layer.problem;
  const EqualParts groups = plan.groups();
  executor.parallel_for(plan.blocks().count(p) * groups.parts, [&](std::int64_t first, std::int64_t last) {
    const Workspace<T> workspace(executor.scratch(), plan);
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const CnnBlock block = plan.blocks().block(p, chunk / groups.parts);
      const std::int64_t first_output = groups.first(chunk % groups.parts);
      const std::int64_t last_output = groups.first(chunk % groups.parts + 1);
      const auto panels = EqualParts::of_at_most(last_output - first_output, register_tile<T>().rows);
      const PatchGrid grid = plan.grid(block);
      for (std::int64_t tap = 0; tap < plan.filter(); ++tap)
        workspace.taps[tap] = grid.offset(tap / p.filter_width, tap % p.filter_width);
      for (std::int64_t step = 0; step < plan.layout().steps().parts; ++step)
        add_step(layer, plan, workspace, block, grid, step, first_output, panels);
      finish_block(layer, workspace, block, grid, plan.sums_step(grid), first_output, last_output);
    }
  });
}

template <class T>
std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, const Team& team) {
  const ImplicitGemmPlan<T> plan(problem, team);
  const std::int64_t products = problem.input_channels * plan.filter();
  CpuTbbKernel::Preparation preparation;
  preparation.size_bytes = static_cast<std::size_t>(plan.layout().size()) * sizeof(T);
  preparation.prepare = [plan, products](Executor& executor, const std::byte* raw, std::byte* prepared) {
    const T* const weights = reinterpret_cast<const T*>(raw);
    executor.parallel_for(plan.layout().steps().parts, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t step = first; step < last; ++step) {
        plan.layout().pack_step(step, reinterpret_cast<T*>(prepared), [&](std::int64_t channel, std::int64_t product) {
          return weights[channel * products + product];
        });
      }
    });
  };
  return make_cnn_layer_kernel<T>(
      plan.problem(), [plan](Executor& executor, const CnnOperands<T>& layer) { compute(executor, layer, plan); },
      std::move(preparation));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_implicit_gemm() {
  return {
      .name = "implicit_gemm",
      .summary = "packed weights times patches in register tiles; bias, ReLU and pool on the sums in the cache",
      .check = [](const CnnLayer&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make = [](const CnnLayer& problem, backend::Device& device, const Tuning&) -> std::unique_ptr<backend::Kernel> {
        const Team team = native(device).team();
        if (is_computed_by_pixel_rows(problem)) {
          return problem.type == DataType::float32 ? make_cnn_layer_pixel_rows<float>(problem, team)
                                                   : make_cnn_layer_pixel_rows<double>(problem, team);
        }
        return problem.type == DataType::float32 ? make<float>(problem, team) : make<double>(problem, team);
      },
  };
}

}  // namespace tessera::cpu_tbb
