// The variant "winograd": tiles of 4 x 4 or 2 x 2 sums by Winograd's algorithm (mathematics/cnn_layer_winograd.h), 6.25
// times fewer products than the direct sum for 5 x 5 filters and 4 times fewer for 3 x 3.
//
//     pixels      planes      V: n * n matrices        M: n * n matrices       sums        outputs
//                             channels x tiles         channels x tiles
//     +-----+     +-----+     +-----+                  +-----+                 +-----+     +---+
//     |     | --> |     | --> |     |+ -- U[ab] x V[ab] ->    |+ ------------> |     | --> |   |
//     +-----+     +-----+     +-----+|                 +-----+|                +-----+     +---+
//          deal to     transform  +-----+   register tile  +-----+  transform       bias, ReLU,
//          step planes                      of gemm                                 pool
//
// A chunk is a block of up to 64 tiles: V and M take n * n * (channels in + out) * tiles, so that they pass through the
// second- and third-level cache while the transformed weights U, which all chunks share, are read once for each chunk.
// Where there are many blocks, each is computed by one thread, and nothing of V and M is ever seen by another; where
// there are few, all threads go through the stages of all blocks together. Blocks depend on the problem alone, because
// where a tile begins changes the last bits of its sums.
//
// An infinity or NaN spreads over the tiles that its patch belongs to, and large numbers may overflow inside where
// their sum does not. So every sum that is not finite is computed again in the plain way, from a copy of the raw
// weights; and so is every sum in doubt, which pixels beside its own window may have spoiled
// (cnn_layer_winograd_doubt.h).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu_tbb_device.h"
#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_finish.h"
#include "ops/cnn_layer/cnn_layer_plain.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/cnn_layer/cnn_layer_winograd_choice.h"
#include "ops/cnn_layer/cnn_layer_winograd_direct.h"
#include "ops/cnn_layer/cnn_layer_winograd_doubt.h"
#include "ops/cnn_layer/cnn_layer_winograd_filter.h"
#include "ops/cnn_layer/cnn_layer_winograd_plan.h"
#include "ops/cnn_layer/cnn_layer_winograd_transform.h"
#include "ops/cnn_layer/cnn_layer_winograd_workspace.h"

namespace tessera::cpu_tbb {

namespace {

/// One channel of a block's pixels, in planes.
template <class T>
void pack_channel(const CnnOperands<T>& layer, const PatchGrid& grid, const WinogradWorkspace<T>& workspace,
                  const CnnBlock& block, std::int64_t channel) {
  const std::int64_t padding = layer.problem.padding;
  pack_planes(layer, {block.image, block.sum_y - padding, block.sum_x - padding}, channel, grid, workspace.planes());
  std::fill_n(workspace.planes() + grid.channel_size(), kPlanesSlack, T(0));
}

/// Which sums of a block are in doubt, from all channels' magnitudes.
template <class T>
void find_doubts(const WinogradPlan<T>& plan, const WinogradBlock<T>& matrices, const WinogradWorkspace<T>& workspace,
                 const CnnBlock& block) {
  const PatchGrid grid = plan.grid(block.sum_rows, block.sum_columns);
  const WinogradMagnitudes<T> magnitudes{workspace.magnitudes(), grid, block.sum_rows, block.sum_columns, plan.limit()};
  matrices.doubts[0] =
      static_cast<std::int32_t>(winograd_find_doubts(magnitudes, plan.outputs(), plan.taps(), matrices.doubts + 1));
}

/// The same for a block whose channels other threads transform. Each magnitude is summed in the same order.
template <class T>
void find_doubts_anew(const CnnOperands<T>& layer, const WinogradPlan<T>& plan, const WinogradBlock<T>& matrices,
                      const WinogradWorkspace<T>& workspace, const CnnBlock& block) {
  const PatchGrid grid = plan.grid(block.sum_rows, block.sum_columns);
  workspace.clear_magnitudes();
  for (std::int64_t channel = 0; channel < layer.problem.input_channels; ++channel) {
    pack_channel(layer, grid, workspace, block, channel);
    winograd_add_magnitudes(workspace.planes(), grid.channel_size(), workspace.magnitudes());
  }
  find_doubts(plan, matrices, workspace, block);
}

/// V of one block, input channels [first, last). `with_magnitudes`: adds these to the workspace's.
template <class T>
void transform_pixels(const CnnOperands<T>& layer, const WinogradPlan<T>& plan, const WinogradBlock<T>& matrices,
                      const WinogradWorkspace<T>& workspace, const CnnBlock& block, std::int64_t first,
                      std::int64_t last, bool with_magnitudes) {
  const CnnLayer& p = layer.problem;
  const PatchGrid grid = plan.grid(block.sum_rows, block.sum_columns);
  const std::int64_t step = plan.tiles_step(grid);
  for (std::int64_t channel = first; channel < last; ++channel) {
    pack_channel(layer, grid, workspace, block, channel);
    if (with_magnitudes) winograd_add_magnitudes(workspace.planes(), grid.channel_size(), workspace.magnitudes());
    T* const v = matrices.v + channel * step;
    const std::int64_t matrix_step = plan.matrix_step(grid, p.input_channels);
    winograd_input<T>({workspace.planes(), grid, v, matrix_step, step}, plan.outputs(), plan.taps());
    // Lanes behind the last tile are multiplied too. What an earlier kernel left there may be denormal numbers, which
    // make products many times slower.
    for (std::int64_t matrix = 0; matrix < plan.matrices(); ++matrix) {
      std::fill(v + matrix * matrix_step + grid.rows * grid.columns, v + matrix * matrix_step + step, T(0));
    }
  }
}

/// M of one block, matrices [first, last) of the n * n: weights times pixels.
template <class T>
void multiply(const CnnOperands<T>& layer, const WinogradPlan<T>& plan, const WinogradBlock<T>& matrices,
              const CnnBlock& block, std::int64_t first, std::int64_t last) {
  const CnnLayer& p = layer.problem;
  const PatchGrid grid = plan.grid(block.sum_rows, block.sum_columns);
  const PanelLayout<T>& layout = plan.layout();
  const std::int64_t step = plan.tiles_step(grid);
  PanelProduct<T> product;
  product.ldc = product.columns = product.b_step = step;
  product.sliver_step = register_tile<T>().columns;
  product.alpha = T(1);
  for (std::int64_t matrix = first; matrix < last; ++matrix) {
    const T* const weights = layer.weights + matrix * layout.size();
    for (std::int64_t part = 0; part < layout.steps().parts; ++part) {
      product.b = matrices.v + matrix * plan.matrix_step(grid, p.input_channels) + layout.steps().first(part) * step;
      product.depth = layout.steps().size(part);
      product.beta = part == 0 ? T(0) : T(1);
      product.c = matrices.m + matrix * plan.matrix_step(grid, p.output_channels);
      for (std::int64_t panel = 0; panel < layout.panels().parts; ++panel) {
        product.a = weights + layout.offset(part, panel);
        product.rows = layout.panels().size(panel);
        const std::int64_t bytes = kRegisterDepth<T> * static_cast<std::int64_t>(sizeof(T));
        product.next = {product.a + product.rows * kRegisterDepth<T>, product.rows, bytes, bytes};
        multiply_panel(product);
        product.c += product.rows * step;
      }
    }
  }
}

template <class T>
const T* raw_weights(const CnnOperands<T>& layer, const WinogradPlan<T>& plan) {
  return layer.weights + plan.matrices() * plan.layout().size();
}

/// Computes again what is not finite among one channel's sums.
template <class T>
void repair(const CnnOperands<T>& layer, const WinogradPlan<T>& plan, const CnnBlock& block, std::int64_t channel,
            T* sums, std::int64_t sums_step) {
  const T* const raw = raw_weights(layer, plan);
  for (std::int64_t y = 0; y < block.sum_rows; ++y, sums += sums_step) {
    if (all_finite(sums, block.sum_columns)) continue;
    for (std::int64_t x = 0; x < block.sum_columns; ++x) {
      if (!std::isfinite(sums[x]))
        sums[x] = cnn_products(layer, raw, block.image, channel, block.sum_y + y, block.sum_x + x);
    }
  }
}

/// Outputs of one block, output channels [first, last).
template <class T>
void finish(Executor& executor, const CnnOperands<T>& layer, const WinogradPlan<T>& plan,
            const WinogradBlock<T>& matrices, const WinogradWorkspace<T>& workspace, const CnnBlock& block,
            std::int64_t first, std::int64_t last) {
  const CnnLayer& p = layer.problem;
  const PatchGrid grid = plan.grid(block.sum_rows, block.sum_columns);
  const std::int64_t step = plan.tiles_step(grid);
  const std::int64_t sums_step = plan.sums_step(grid);
  const WinogradDirectSums<T> direct(executor.scratch(), layer, raw_weights(layer, plan), block, matrices.places(),
                                     first, last);
  for (std::int64_t channel = first; channel < last; ++channel) {
    winograd_output<T>({matrices.m + channel * step, plan.matrix_step(grid, p.output_channels), grid.rows, grid.columns,
                        workspace.sums(), sums_step},
                       plan.outputs(), plan.taps());
    direct.put(channel, workspace.sums(), sums_step);
    repair(layer, plan, block, channel, workspace.sums(), sums_step);
    for (std::int64_t y = 0; y < block.rows; ++y) {
      finish_row<T>({.sums = workspace.sums() + y * p.pool_stride * sums_step,
                     .sums_step = sums_step,
                     .pool_size = p.pool_size,
                     .pool_stride = p.pool_stride,
                     .bias = layer.bias_of(channel),
                     .relu = p.relu,
                     .scratch = workspace.row(),
                     .output = layer.output.at(block.image, channel, block.y + y, block.x),
                     .output_step = layer.output.column_step,
                     .columns = block.columns});
    }
  }
}

/// Every block on one thread.
template <class T>
void compute_blocks(Executor& executor, const CnnOperands<T>& layer, const WinogradPlan<T>& plan) {
  const CnnLayer& p = layer.problem;
  executor.parallel_for(plan.blocks().count(p), [&](std::int64_t first, std::int64_t last) {
    const auto size = static_cast<std::size_t>(WinogradBlock<T>::size(plan, plan.largest_grid()));
    const ScratchPool::Loan loan(executor.scratch(), size * sizeof(T));
    const WinogradWorkspace<T> workspace(executor.scratch(), plan);
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const CnnBlock block = plan.blocks().block(p, chunk);
      const WinogradBlock<T> matrices(reinterpret_cast<T*>(loan.data()), plan,
                                      plan.grid(block.sum_rows, block.sum_columns));
      workspace.clear_magnitudes();
      transform_pixels(layer, plan, matrices, workspace, block, 0, p.input_channels, true);
      find_doubts(plan, matrices, workspace, block);
      multiply(layer, plan, matrices, block, 0, plan.matrices());
      finish(executor, layer, plan, matrices, workspace, block, 0, p.output_channels);
    }
  });
}

/// Every stage of all blocks on all threads, for fewer blocks than threads have use for. Each number is computed as by
/// one thread.
template <class T>
void compute_stages(Executor& executor, const CnnOperands<T>& layer, const WinogradPlan<T>& plan) {
  const CnnLayer& p = layer.problem;
  const std::int64_t size = WinogradBlock<T>::size(plan, plan.largest_grid());
  const std::int64_t blocks = plan.blocks().count(p);
  const ScratchPool::Loan loan(executor.scratch(), static_cast<std::size_t>(blocks * size) * sizeof(T));
  /// Calls `work(block, its matrices, i)` for each block and i < parts, spread over the threads.
  const auto spread = [&](std::int64_t parts, const auto& work) {
    executor.parallel_for(blocks * parts, [&](std::int64_t first, std::int64_t last) {
      const WinogradWorkspace<T> workspace(executor.scratch(), plan);
      while (first < last) {
        const std::int64_t number = first / parts;
        const std::int64_t end = std::min(last, (number + 1) * parts);
        const CnnBlock block = plan.blocks().block(p, number);
        const WinogradBlock<T> matrices(reinterpret_cast<T*>(loan.data()) + number * size, plan,
                                        plan.grid(block.sum_rows, block.sum_columns));
        work(workspace, block, matrices, first - number * parts, end - number * parts);
        first = end;
      }
    });
  };
  spread(p.input_channels,
         [&](const auto& workspace, const auto& block, const auto& matrices, std::int64_t first, std::int64_t last) {
           transform_pixels(layer, plan, matrices, workspace, block, first, last, false);
         });
  // Behind the last matrix one part more: which sums are in doubt. Channels shared by threads would be summed in an
  // order that depends on the threads.
  spread(plan.matrices() + 1,
         [&](const auto& workspace, const auto& block, const auto& matrices, std::int64_t first, std::int64_t last) {
           multiply(layer, plan, matrices, block, first, std::min(last, plan.matrices()));
           if (last > plan.matrices()) find_doubts_anew(layer, plan, matrices, workspace, block);
         });
  spread(p.output_channels,
         [&](const auto& workspace, const auto& block, const auto& matrices, std::int64_t first, std::int64_t last) {
           finish(executor, layer, plan, matrices, workspace, block, first, last);
         });
}

template <class T>
void compute(Executor& executor, const CnnOperands<T>& layer, const WinogradPlan<T>& plan) {
  // A thread without a block would wait for the others. On 16 cores of a Xeon, 64 -> 64 channels, 3 x 3, 56 x 56: 7
  // blocks take 255 us in stages and 356 apart, the 56 of 8 images 1175 and 1082.
  if (plan.blocks().count(layer.problem) < executor.threads()) {
    compute_stages(executor, layer, plan);
  } else {
    compute_blocks(executor, layer, plan);
  }
}

template <class T>
std::unique_ptr<backend::Kernel> make_typed(const CnnLayer& problem, std::int64_t outputs) {
  const WinogradPlan<T> plan(problem, outputs);
  CpuTbbKernel::Preparation preparation;
  preparation.size_bytes =
      static_cast<std::size_t>(plan.matrices() * plan.layout().size() + plan.raw_size()) * sizeof(T);
  preparation.prepare = [plan](Executor& executor, const std::byte* raw, std::byte* prepared) {
    const T* const weights = reinterpret_cast<const T*>(raw);
    T* const target = reinterpret_cast<T*>(prepared);
    winograd_filters(executor, weights, plan.layout(), plan.outputs(), plan.taps(), plan.problem().input_channels,
                     target);
    std::copy_n(weights, plan.raw_size(), target + plan.matrices() * plan.layout().size());
  };
  return make_cnn_layer_kernel<T>(
      problem, [plan](Executor& executor, const CnnOperands<T>& layer) { compute(executor, layer, plan); },
      std::move(preparation));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_winograd() {
  return {
      .name = "winograd",
      .summary =
          "Winograd's algorithm in blocks of 64 tiles: fewer products, a wider error bound, by the window's own pixels "
          "and its output channel's largest weight; sums that pixels beside it would spoil are computed directly",
      .check = [](const CnnLayer& problem,
                  const backend::Device&) { return mathematics::cnn_layer_winograd_check_any(problem); },
      .tunables = cnn_layer_winograd_tunables,
      .make = [](const CnnLayer& problem, backend::Device&, const Tuning& tuning) -> std::unique_ptr<backend::Kernel> {
        const std::int64_t outputs = tuning.at("tile");
        return problem.type == DataType::float32 ? make_typed<float>(problem, outputs)
                                                 : make_typed<double>(problem, outputs);
      },
      .error_factor_of =
          [](const CnnLayer& problem, const backend::Device&) {
            return mathematics::cnn_layer_winograd_factor(problem,
                                                          mathematics::cnn_layer_winograd_tiles(problem).front());
          },
      .pays = cnn_layer_winograd_pays_on,
  };
}

}  // namespace tessera::cpu_tbb
