// The variant "winograd": tiles of 4 x 4 or 2 x 2 sums by Winograd's algorithm (api/backend/cnn_layer_winograd.h), 6.25
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
// All of it happens on one thread; nothing of V and M is ever seen by another. Blocks depend on the problem alone,
// because where a tile begins changes the last bits of its sums.
//
// An infinity or NaN spreads over the tiles that its patch belongs to, and large numbers may overflow inside where
// their sum does not. So every sum that is not finite is computed again in the plain way, from a copy of the raw
// weights.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_blocks.h"
#include "ops/cnn_layer/cnn_layer_finish.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/cnn_layer/cnn_layer_plain.h"
#include "ops/cnn_layer/cnn_layer_planes.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "ops/cnn_layer/cnn_layer_winograd_filter.h"
#include "ops/cnn_layer/cnn_layer_winograd_transform.h"

namespace tessera::cpu_tbb {

namespace {

/// Tiles of a chunk: two slivers of 32 for each panel of weights, and a second-level cache's worth of M for 64
/// channels.
constexpr std::int64_t kMostTiles = 64;
/// Tiles that a chunk costs beside its own: reading the weights and packing pixels around the block.
constexpr std::int64_t kTilesForWeights = 8;

constexpr std::int64_t kCacheLine = 64;

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}
std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return divide_up(value, multiple) * multiple;
}

/// What the transforms of a tile cost for each channel, and what it saves for each pair of them, in products. Counted,
/// not measured.
struct TileCosts {
  std::int64_t of_input;
  std::int64_t of_output;
  std::int64_t saved;
};
TileCosts tile_costs(const CnnLayer& p, std::int64_t outputs) {
  if (p.filter_height == 3) return {340, 200, 144 - 36};
  return outputs == 4 ? TileCosts{700, 400, 400 - 64} : TileCosts{300, 130, 100 - 36};
}
std::int64_t transforms_cost(const CnnLayer& p, std::int64_t outputs) {
  const TileCosts costs = tile_costs(p, outputs);
  return costs.of_input * p.input_channels + costs.of_output * p.output_channels;
}

template <class T>
class Plan {
 public:
  Plan(const CnnLayer& problem, std::int64_t outputs)
      : problem_(problem),
        outputs_(outputs),
        taps_(problem.filter_height),
        lanes_(register_tile<T>().columns / 2),
        layout_(problem.output_channels, problem.input_channels) {
    choose();
  }
  [[nodiscard]] const CnnLayer& problem() const noexcept { return problem_; }
  [[nodiscard]] std::int64_t outputs() const noexcept { return outputs_; }
  [[nodiscard]] std::int64_t taps() const noexcept { return taps_; }
  [[nodiscard]] std::int64_t size() const noexcept { return outputs_ + taps_ - 1; }
  [[nodiscard]] std::int64_t matrices() const noexcept { return size() * size(); }
  [[nodiscard]] const CnnBlocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] const PanelLayout<T>& layout() const noexcept { return layout_; }
  [[nodiscard]] std::int64_t raw_size() const noexcept {
    return problem_.output_channels * problem_.input_channels * taps_ * taps_;
  }
  /// Tiles as patches, for a block of so many sums.
  [[nodiscard]] PatchGrid grid(std::int64_t sum_rows, std::int64_t sum_columns) const noexcept {
    return {divide_up(sum_rows, outputs_), divide_up(sum_columns, outputs_), outputs_, size(), size()};
  }
  /// Elements from one channel's tiles to the next.
  [[nodiscard]] std::int64_t tiles_step(const PatchGrid& grid) const noexcept {
    return round_up(grid.rows * grid.columns, lanes_);
  }
  /// Elements from one matrix of V or M to the next. Were it a power of two, as products of channels and tiles often
  /// are, all matrices' elements of one tile would fight for the same few lines of the first-level cache.
  [[nodiscard]] std::int64_t matrix_step(const PatchGrid& grid, std::int64_t channels) const noexcept {
    return channels * tiles_step(grid) + kCacheLine / static_cast<std::int64_t>(sizeof(T));
  }
  /// Elements from one row of sums to the next.
  [[nodiscard]] std::int64_t sums_step(const PatchGrid& grid) const noexcept {
    return round_up(grid.columns, lanes_) * outputs_;
  }

 private:
  /// The blocks that take the least time: products go by tiles in whole vectors, transforms by rows of them.
  void choose() {
    const CnnLayer& p = problem_;
    const double transforms = static_cast<double>(transforms_cost(p, outputs_)) /
                              static_cast<double>(matrices() * p.input_channels * p.output_channels);
    double best = 0;
    for (std::int64_t columns = 1; columns <= p.output_width(); ++columns) {
      for (std::int64_t rows = 1; rows <= p.output_height(); ++rows) {
        const PatchGrid tiles = grid(CnnBlocks::sums(p, rows), CnnBlocks::sums(p, columns));
        if (best > 0 && tiles.rows * tiles.columns > kMostTiles) break;
        const CnnBlocks blocks{rows, columns};
        const auto in_rows = static_cast<double>(tiles.rows * round_up(tiles.columns, lanes_));
        const double cost = static_cast<double>(blocks.down(p) * blocks.across(p)) *
                            (static_cast<double>(tiles_step(tiles) + kTilesForWeights) + transforms * in_rows);
        if (best > 0 && cost >= best) continue;
        best = cost;
        blocks_ = blocks;
      }
    }
  }

  CnnLayer problem_;
  std::int64_t outputs_;
  std::int64_t taps_;
  std::int64_t lanes_;
  PanelLayout<T> layout_;
  CnnBlocks blocks_;
};

/// The memory of one thread.
template <class T>
class Workspace {
 public:
  Workspace(ScratchPool& pool, const Plan<T>& plan) : Workspace(pool, plan, plan.problem(), plan.blocks()) {}

  T* planes;
  T* v;
  T* m;
  T* sums;
  T* row;

 private:
  Workspace(ScratchPool& pool, const Plan<T>& plan, const CnnLayer& p, const CnnBlocks& blocks)
      : Workspace(pool, plan, p, plan.grid(CnnBlocks::sums(p, blocks.rows), CnnBlocks::sums(p, blocks.columns))) {}
  Workspace(ScratchPool& pool, const Plan<T>& plan, const CnnLayer& p, const PatchGrid& grid) {
    const std::int64_t planes_size = aligned(grid.channel_size() + kPlanesSlack);
    const std::int64_t v_size = aligned(plan.matrices() * plan.matrix_step(grid, p.input_channels) + kSumsSlack);
    const std::int64_t m_size = aligned(plan.matrices() * plan.matrix_step(grid, p.output_channels) + kSumsSlack);
    const std::int64_t sums_size = aligned(grid.rows * plan.outputs() * plan.sums_step(grid) + kSumsSlack);
    const std::int64_t whole = planes_size + v_size + m_size + sums_size + plan.sums_step(grid) + kSumsSlack;
    loan_ = std::make_unique<ScratchPool::Loan>(pool, static_cast<std::size_t>(whole) * sizeof(T));
    planes = reinterpret_cast<T*>(loan_->data());
    v = planes + planes_size;
    m = v + v_size;
    sums = m + m_size;
    row = sums + sums_size;
  }
  /// So that what follows begins at a cache line.
  static std::int64_t aligned(std::int64_t elements) { return round_up(elements, 16); }

  std::unique_ptr<ScratchPool::Loan> loan_;
};

/// V of one block.
template <class T>
void transform_pixels(const CnnOperands<T>& layer, const Plan<T>& plan, const Workspace<T>& workspace,
                      const CnnBlock& block, const PatchGrid& grid) {
  const CnnLayer& p = layer.problem;
  const std::int64_t step = plan.tiles_step(grid);
  for (std::int64_t channel = 0; channel < p.input_channels; ++channel) {
    pack_planes(layer, {block.image, block.sum_y - p.padding, block.sum_x - p.padding}, channel, grid,
                workspace.planes);
    std::fill_n(workspace.planes + grid.channel_size(), kPlanesSlack, T(0));
    winograd_input<T>(
        {workspace.planes, grid, workspace.v + channel * step, plan.matrix_step(grid, p.input_channels), step},
        plan.outputs(), plan.taps());
  }
}

/// M of one block: for each matrix, weights times pixels.
template <class T>
void multiply(const CnnOperands<T>& layer, const Plan<T>& plan, const Workspace<T>& workspace, const PatchGrid& grid) {
  const CnnLayer& p = layer.problem;
  const PanelLayout<T>& layout = plan.layout();
  const std::int64_t step = plan.tiles_step(grid);
  PanelProduct<T> product;
  product.ldc = product.columns = product.b_step = step;
  product.sliver_step = register_tile<T>().columns;
  product.alpha = T(1);
  for (std::int64_t matrix = 0; matrix < plan.matrices(); ++matrix) {
    const T* const weights = layer.weights + matrix * layout.size();
    for (std::int64_t part = 0; part < layout.steps().parts; ++part) {
      product.b = workspace.v + matrix * plan.matrix_step(grid, p.input_channels) + layout.steps().first(part) * step;
      product.depth = layout.steps().size(part);
      product.beta = part == 0 ? T(0) : T(1);
      product.c = workspace.m + matrix * plan.matrix_step(grid, p.output_channels);
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

/// Computes again what is not finite among one channel's sums.
template <class T>
void repair(const CnnOperands<T>& layer, const Plan<T>& plan, const CnnBlock& block, std::int64_t channel, T* sums,
            std::int64_t sums_step) {
  const T* const raw = layer.weights + plan.matrices() * plan.layout().size();
  for (std::int64_t y = 0; y < block.sum_rows; ++y, sums += sums_step) {
    if (all_finite(sums, block.sum_columns)) continue;
    for (std::int64_t x = 0; x < block.sum_columns; ++x) {
      if (!std::isfinite(sums[x]))
        sums[x] = cnn_products(layer, raw, block.image, channel, block.sum_y + y, block.sum_x + x);
    }
  }
}

/// Outputs of one block.
template <class T>
void finish(const CnnOperands<T>& layer, const Plan<T>& plan, const Workspace<T>& workspace, const CnnBlock& block,
            const PatchGrid& grid) {
  const CnnLayer& p = layer.problem;
  const std::int64_t step = plan.tiles_step(grid);
  const std::int64_t sums_step = plan.sums_step(grid);
  for (std::int64_t channel = 0; channel < p.output_channels; ++channel) {
    winograd_output<T>({workspace.m + channel * step, plan.matrix_step(grid, p.output_channels), grid.rows,
                        grid.columns, workspace.sums, sums_step},
                       plan.outputs(), plan.taps());
    repair(layer, plan, block, channel, workspace.sums, sums_step);
    for (std::int64_t y = 0; y < block.rows; ++y) {
      finish_row<T>({.sums = workspace.sums + y * p.pool_stride * sums_step,
                     .sums_step = sums_step,
                     .pool_size = p.pool_size,
                     .pool_stride = p.pool_stride,
                     .bias = layer.bias_of(channel),
                     .relu = p.relu,
                     .scratch = workspace.row,
                     .output = layer.output.at(block.image, channel, block.y + y, block.x),
                     .output_step = layer.output.column_step,
                     .columns = block.columns});
    }
  }
}

template <class T>
void compute(Executor& executor, const CnnOperands<T>& layer, const Plan<T>& plan) {
  executor.parallel_for(plan.blocks().count(layer.problem), [&](std::int64_t first, std::int64_t last) {
    const Workspace<T> workspace(executor.scratch(), plan);
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const CnnBlock block = plan.blocks().block(layer.problem, chunk);
      const PatchGrid grid = plan.grid(block.sum_rows, block.sum_columns);
      transform_pixels(layer, plan, workspace, block, grid);
      multiply(layer, plan, workspace, grid);
      finish(layer, plan, workspace, block, grid);
    }
  });
}

template <class T>
std::unique_ptr<backend::Kernel> make_typed(const CnnLayer& problem, std::int64_t outputs) {
  const Plan<T> plan(problem, outputs);
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

/// Whether tiles with that side are accurate enough, and save at least twice what their transforms cost.
backend::Verdict check_tile(const CnnLayer& p, std::int64_t outputs) {
  if (backend::Verdict verdict = backend::cnn_layer_winograd_check(p, outputs); !verdict) return verdict;
  const std::int64_t saved = tile_costs(p, outputs).saved * p.input_channels * p.output_channels;
  const std::int64_t paid = transforms_cost(p, outputs);
  if (saved >= 2 * paid) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence(
      "with ", p.input_channels, " input and ", p.output_channels, " output channels a tile of winograd saves ", saved,
      " products, but must save at least 2 * ", paid, ", twice what its transforms cost"));
}

/// The sides of tiles that the problem admits, best first.
std::vector<std::int64_t> admitted(const CnnLayer& problem) {
  std::vector<std::int64_t> sides;
  for (const std::int64_t outputs : {4, 2}) {
    if (check_tile(problem, outputs)) sides.push_back(outputs);
  }
  return sides;
}

backend::Verdict check(const CnnLayer& p, const backend::Device&) {
  if (const backend::Verdict large = check_tile(p, 4); large || p.filter_height != 5) return large;
  return check_tile(p, 2);
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device&) {
  const std::vector<std::int64_t> sides = admitted(problem);
  return {{"tile", "sums down and across that are computed together", sides, sides.front()}};
}

double error_factor(const CnnLayer& problem, const backend::Device&) {
  return backend::cnn_layer_winograd_factor(problem, admitted(problem).front());
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_winograd() {
  return {
      .name = "winograd",
      .summary = "Winograd's algorithm in blocks of 64 tiles: fewer products, a wider error bound",
      .check = check,
      .tunables = tunables,
      .make = [](const CnnLayer& problem, backend::Device&, const Tuning& tuning) -> std::unique_ptr<backend::Kernel> {
        const std::int64_t outputs = tuning.at("tile");
        return problem.type == DataType::float32 ? make_typed<float>(problem, outputs)
                                                 : make_typed<double>(problem, outputs);
      },
      .error_factor_of = error_factor,
  };
}

}  // namespace tessera::cpu_tbb
