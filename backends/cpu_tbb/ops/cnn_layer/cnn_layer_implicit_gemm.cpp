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
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "cpu_tbb_device.h"
#include "cpu_tbb_machine.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_blocks.h"
#include "ops/cnn_layer/cnn_layer_finish.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/cnn_layer/cnn_layer_planes.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// The most bytes of a chunk's sums: half of the second-level cache, so that the pixels and weights of a step stay
/// there beside them. On a core of a Xeon with 2 MiB the study's layer took 5 % longer with a quarter.
std::int64_t most_sums_bytes() {
  return second_level_cache_bytes() / 2;
}
/// Sums in a row of a chunk, at most: longer rows are cut.
constexpr std::int64_t kMostColumns = 1024;
// A model of the time that a way of cutting the layer takes, fitted to the benchmark's six small layers on 2 and on 16
// cores of a Xeon with AVX-512. What it chooses takes at most 1.10 times as long as the best cut that was measured, in
// the geometric mean.

/// Up to this many groups of output channels every number of groups is tried. A layer may have too many channels to try
/// them all; 256 panels are 3584 channels in float32 with AVX-512.
constexpr std::int64_t kAllGroups = 256;

/// What a chunk costs beside its products: for each channel, the time of so many sums, to bring its weights from the
/// third-level cache; and once for each chunk, the time of so many products.
constexpr double kSumsForWeights = 6;
constexpr double kProductsForChunk = 100000;
/// The time that packing takes, in products: for each pixel, and for each row beside its pixels.
constexpr double kProductsForPixel = 24;
constexpr double kProductsForRow = 1200;
/// The same where a plane is one copy of the image: for each pixel, and for the zeros of each row.
constexpr double kProductsForCopiedPixel = 6;
constexpr double kProductsForCopiedRow = 150;

/// The chunks of a problem, and the memory that one of them works in.
template <class T>
class Plan {
 public:
  Plan(const CnnLayer& problem, const Team& team)
      : problem_(problem),
        filter_(problem.filter_height * problem.filter_width),
        layout_(problem.output_channels, problem.input_channels * filter_) {
    choose(team);
  }

  [[nodiscard]] const PanelLayout<T>& layout() const noexcept { return layout_; }
  [[nodiscard]] const CnnBlocks& blocks() const noexcept { return blocks_; }
  /// Equal parts of the output channels, each computed by chunks of its own. Each part is cut into panels of its own,
  /// because whole panels do not divide evenly: of the 37 panels of 512 channels one of two groups would get 19 panels,
  /// which are 265 channels.
  [[nodiscard]] EqualParts groups() const noexcept { return {problem_.output_channels, groups_}; }
  [[nodiscard]] std::int64_t filter() const noexcept { return filter_; }
  [[nodiscard]] PatchGrid grid(std::int64_t sum_rows, std::int64_t sum_columns) const noexcept {
    return {sum_rows, sum_columns, problem_.stride, problem_.filter_height, problem_.filter_width, are_columns_apart_};
  }
  /// Elements from one channel's sums to the next.
  [[nodiscard]] static std::int64_t sums_step(const PatchGrid& grid) noexcept {
    const std::int64_t lanes = register_tile<T>().columns / 2;
    return mathematics::round_up(grid.count(), lanes);
  }
  [[nodiscard]] std::int64_t channels_of_step() const noexcept {
    return std::min(problem_.input_channels, (layout_.steps().size(0) + filter_ - 2) / filter_ + 1);
  }

 private:
  void choose(const Team& team) {
    const CnnLayer& p = problem_;
    const std::int64_t panels = layout_.panels().parts;
    const auto blocks_across = mathematics::ceil_div(CnnBlocks::sums(p, p.output_width()), kMostColumns);
    blocks_.columns = mathematics::ceil_div(p.output_width(), blocks_across);
    const double once = kProductsForChunk / static_cast<double>(p.input_channels * filter_);  // in sums
    constexpr double kNone = std::numeric_limits<double>::infinity();  // not 0, which is the time of an empty batch
    double best = kNone;
    for (const bool apart : {false, true}) {
      // Every number of groups up to kAllGroups; beyond, steps so small that the size of a group changes little.
      for (std::int64_t groups = 1; groups <= panels; groups += std::max<std::int64_t>(1, groups / kAllGroups)) {
        const std::int64_t channels = mathematics::ceil_div(p.output_channels, groups);
        for (std::int64_t rows_asked = 1; rows_asked <= p.output_height(); ++rows_asked) {
          const std::int64_t down = mathematics::ceil_div(p.output_height(), rows_asked);
          const CnnBlocks blocks{mathematics::ceil_div(p.output_height(), down), blocks_.columns};
          PatchGrid block = grid(CnnBlocks::sums(p, blocks.rows), CnnBlocks::sums(p, blocks.columns));
          block.are_columns_apart = apart;
          const std::int64_t step = sums_step(block);
          if (best < kNone && channels * step * static_cast<std::int64_t>(sizeof(T)) > most_sums_bytes()) break;
          const auto rounds = static_cast<double>((blocks.count(p) * groups + team.threads - 1) / team.threads);
          const double sums = static_cast<double>(channels) * (static_cast<double>(step) + kSumsForWeights);
          const double time = (rounds + team.waited_for) * (sums + packing(block) + once);
          if (time >= best) continue;
          best = time;
          blocks_ = blocks;
          groups_ = groups;
          are_columns_apart_ = apart;
        }
      }
    }
  }

  /// The time that packing one block takes, in sums.
  [[nodiscard]] double packing(const PatchGrid& grid) const noexcept {
    const bool is_copied = problem_.layout == Layout::nchw && grid.are_planes_images(problem_.width, 1);
    const auto pixels = static_cast<double>(grid.channel_size());
    const auto rows = static_cast<double>(grid.channel_size() / grid.pitch());
    const double products = is_copied ? kProductsForCopiedPixel * pixels + kProductsForCopiedRow * rows
                                      : kProductsForPixel * pixels + kProductsForRow * rows;
    return products / static_cast<double>(filter_);
  }

  CnnLayer problem_;
  std::int64_t filter_;
  PanelLayout<T> layout_;
  CnnBlocks blocks_;
  std::int64_t groups_ = 1;
  bool are_columns_apart_ = false;
};

/// The memory of one thread.
template <class T>
class Workspace {
 public:
  Workspace(ScratchPool& pool, const Plan<T>& plan, const CnnLayer& p)
      : Workspace(pool, plan,
                  plan.grid(CnnBlocks::sums(p, plan.blocks().rows), CnnBlocks::sums(p, plan.blocks().columns))) {}
  T* planes;
  T* sums;
  T* row;
  std::int64_t* offsets;  ///< of a step's products, in the planes
  std::int64_t* taps;     ///< of the filter's weights, in the planes of one channel

 private:
  Workspace(ScratchPool& pool, const Plan<T>& plan, const PatchGrid& grid)
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
void add_step(const CnnOperands<T>& layer, const Plan<T>& plan, const Workspace<T>& workspace, const CnnBlock& block,
              const PatchGrid& grid, std::int64_t step, std::int64_t first_output, const EqualParts& panels) {
  const CnnLayer& p = layer.problem;
  const PanelLayout<T>& layout = plan.layout();
  const std::int64_t first = layout.steps().first(step);
  const std::int64_t depth = layout.steps().size(step);
  const std::int64_t first_channel = first / plan.filter();
  const std::int64_t last_channel = (first + depth - 1) / plan.filter();
  const PatchCorner corner{block.image, block.sum_y * p.stride - p.padding, block.sum_x * p.stride - p.padding};
  T* planes = workspace.planes;
  for (std::int64_t channel = first_channel; channel <= last_channel; ++channel, planes += grid.channel_size())
    pack_planes(layer, corner, channel, grid, planes);
  std::fill_n(planes, kPlanesSlack, T(0));
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

/// Writes the outputs of channels [first, last), whose sums are complete.
template <class T>
void finish_block(const CnnOperands<T>& layer, const Workspace<T>& workspace, const CnnBlock& block,
                  const PatchGrid& grid, std::int64_t sums_step, std::int64_t first, std::int64_t last) {
  const CnnLayer& p = layer.problem;
  // Rows that lie behind each other, as sums and as outputs, are one.
  const bool are_one = p.pool_size == 1 && p.pool_stride == 1 && grid.pitch() == block.columns &&
                       layer.output.row_step == block.columns * layer.output.column_step;
  const std::int64_t rows = are_one ? 1 : block.rows;
  const std::int64_t columns = are_one ? block.rows * block.columns : block.columns;
  for (std::int64_t channel = first; channel < last; ++channel) {
    for (std::int64_t y = 0; y < rows; ++y) {
      finish_row<T>({.sums = workspace.sums + (channel - first) * sums_step + y * p.pool_stride * grid.pitch(),
                     .sums_step = grid.pitch(),
                     .pool_size = p.pool_size,
                     .pool_stride = p.pool_stride,
                     .bias = layer.bias_of(channel),
                     .relu = p.relu,
                     .scratch = workspace.row,
                     .output = layer.output.at(block.image, channel, block.y + y, block.x),
                     .output_step = layer.output.column_step,
                     .columns = columns});
    }
  }
}

template <class T>
void compute(Executor& executor, const CnnOperands<T>& layer, const Plan<T>& plan) {
  const CnnLayer& p = layer.problem;
  const EqualParts groups = plan.groups();
  executor.parallel_for(plan.blocks().count(p) * groups.parts, [&](std::int64_t first, std::int64_t last) {
    const Workspace<T> workspace(executor.scratch(), plan, p);
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const CnnBlock block = plan.blocks().block(p, chunk / groups.parts);
      const std::int64_t first_output = groups.first(chunk % groups.parts);
      const std::int64_t last_output = groups.first(chunk % groups.parts + 1);
      const auto panels = EqualParts::of_at_most(last_output - first_output, register_tile<T>().rows);
      const PatchGrid grid = plan.grid(block.sum_rows, block.sum_columns);
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
  const Plan<T> plan(problem, team);
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
      problem, [plan](Executor& executor, const CnnOperands<T>& layer) { compute(executor, layer, plan); },
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
        return problem.type == DataType::float32 ? make<float>(problem, team) : make<double>(problem, team);
      },
  };
}

}  // namespace tessera::cpu_tbb
