// The variant "subtile": binds a problem to one of the compiled sub-tiles, or to the kernel with the published study's
// loops, and launches it.
#include <algorithm>
#include <array>

#include "cuda_embedded.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_subtile_arguments.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

/// Output channels that any sub-tile divides, so that a thread reads weights as whole sub-tiles.
constexpr std::int64_t kLargestSubChannels = 16;

/// Outputs of a sub-tile along one axis: all windows that fit for pools beside each other, else one.
std::int64_t windows_of(const CnnLayer& problem, std::int64_t sums) {
  if (problem.pool_size == 1) return sums;
  return has_plain_pool(problem) ? sums / 2 : 1;
}

/// Where the output is cut.
struct Cut {
  Cut(const CnnLayer& problem, const Tuning& tuning)
      : sub{static_cast<int>(tuning.at("sub_channels")), static_cast<int>(tuning.at("sub_rows")),
            static_cast<int>(tuning.at("sub_columns"))},
        windows_y(windows_of(problem, sub.rows)),
        windows_x(windows_of(problem, sub.columns)),
        items_channels(ceil_div(tuning.at("tile_channels"), sub.channels)),
        items_y(ceil_div(tuning.at("tile_rows"), windows_y)),
        items_x(ceil_div(tuning.at("tile_columns"), windows_x)),
        tiles_channels(ceil_div(problem.output_channels, items_channels * sub.channels)),
        tiles_y(ceil_div(problem.output_height(), items_y * windows_y)),
        tiles_x(ceil_div(problem.output_width(), items_x * windows_x)) {}

  CnnLayerSubtile sub;
  std::int64_t windows_y;
  std::int64_t windows_x;
  std::int64_t items_channels;  ///< of a tile
  std::int64_t items_y;
  std::int64_t items_x;
  std::int64_t tiles_channels;
  std::int64_t tiles_y;
  std::int64_t tiles_x;
};

/// Which of the study's loops and sums, each as a tunable has it.
struct Loops {
  explicit Loops(const Tuning& tuning)
      : filter_outermost(tuning.at("filter_outermost")),
        unroll(tuning.at("unroll")),
        fused(tuning.at("fused")),
        sums_aligned(tuning.at("sums_aligned")),
        sums_zeroed(tuning.at("sums_zeroed")) {}

  /// The sub-tile's sums stay in registers.
  [[nodiscard]] bool is_compiled_for_subtile() const { return filter_outermost != 0 && unroll != 0; }
  [[nodiscard]] const Image& image() const {
    if (!is_compiled_for_subtile()) return embedded::cnn_layer_subtile_loops;
    return sums_zeroed != 0 ? embedded::cnn_layer_subtile : embedded::cnn_layer_subtile_begun;
  }
  [[nodiscard]] std::string function(DataType type, const CnnLayerSubtile& sub) const {
    if (!is_compiled_for_subtile())
      return sentence("tessera_cnn_layer_subtile_loops_", sums_aligned != 0 ? "aligned_" : "", to_string(type), "_",
                      filter_outermost, "_", unroll);
    return sentence("tessera_cnn_layer_subtile_", fused != 0 ? "" : "split_", sums_zeroed != 0 ? "" : "begun_",
                    to_string(type), "_", sub.channels, "_", sub.rows, "_", sub.columns);
  }

  std::int64_t filter_outermost;
  std::int64_t unroll;
  std::int64_t fused;
  std::int64_t sums_aligned;
  std::int64_t sums_zeroed;
};

template <class T>
class CnnLayerSubtileKernel final : public backend::Kernel {
 public:
  CnnLayerSubtileKernel(const std::shared_ptr<Context>& context, const CnnLayer& problem, const Cut& cut,
                        const Loops& loops)
      : weights_(context, problem, 1, problem.input_channels * problem.filter_height * problem.filter_width,
                 ceil_div(problem.output_channels, kLargestSubChannels) * kLargestSubChannels),
        function_(context, loops.image(), loops.function(problem.type, cut.sub),
                  grid_of(context->limits(), problem.batch * cut.tiles_channels * cut.tiles_y * cut.tiles_x, 1, 1,
                          threads_of(cut))) {
    arguments_.layer = cnn_layer_arguments<T>(problem);
    arguments_.weights_stride = weights_.leading();
    arguments_.tiles_x = cut.tiles_x;
    arguments_.tiles_y = cut.tiles_y;
    arguments_.tiles_channels = cut.tiles_channels;
    arguments_.items_x = static_cast<std::int32_t>(cut.items_x);
    arguments_.items_y = static_cast<std::int32_t>(cut.items_y);
    arguments_.items_channels = static_cast<std::int32_t>(cut.items_channels);
    arguments_.windows_x = static_cast<std::int32_t>(cut.windows_x);
    arguments_.windows_y = static_cast<std::int32_t>(cut.windows_y);
    arguments_.fused = static_cast<std::int32_t>(loops.fused);
    arguments_.zeroed = static_cast<std::int32_t>(loops.sums_zeroed);
    arguments_.sub = cut.sub;
  }

  [[nodiscard]] std::size_t prepared_bytes() const override { return weights_.size_bytes(); }
  void prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
               const backend::Slice& /*workspace*/) override {
    weights_.prepare(queue, weights, prepared);
  }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    if (arguments_.layer.batch == 0) return;
    CnnLayerSubtileArguments<T> arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.layer.input = pointer_to<const T>(operands[0]);
    arguments.layer.weights = pointer_to<const T>(operands[1]);
    arguments.layer.bias = pointer_to<const T>(operands[2]);
    arguments.layer.output = pointer_to<T>(operands[3]);
    function_.enqueue(queue, arguments);
  }

 private:
  static unsigned threads_of(const Cut& cut) {
    const std::int64_t items = cut.items_channels * cut.items_y * cut.items_x;
    return static_cast<unsigned>(std::min<std::int64_t>(ceil_div(items, 32) * 32, kCnnLayerSubtileThreads));
  }

  CnnLayerWeights<T> weights_;
  CudaFunction function_;
  CnnLayerSubtileArguments<T> arguments_{};
};

/// Sizes of a sub-tile that are compiled and hold a window of the pool.
std::vector<std::int64_t> sub_sizes(const CnnLayer& problem) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : {1, 2, 4}) {
    if (size >= problem.pool_size && (size > 1 || problem.type == DataType::float32)) sizes.push_back(size);
  }
  return sizes;
}

/// With so many sub-tiles a multiprocessor has enough to do.
constexpr std::int64_t kEnoughItems = 160;

/// The largest sub-tile of which there are enough: on an H200 the study's layer is fastest with 8 x 4 x 4. Where there
/// are few outputs, more threads gain more than what each of them reuses.
CnnLayerSubtile preferred_sub(const CnnLayer& problem, std::int64_t units) {
  const bool is_float = problem.type == DataType::float32;
  const std::vector<CnnLayerSubtile> candidates =
      is_float
          ? std::vector<CnnLayerSubtile>{{8, 4, 4}, {16, 2, 2}, {8, 2, 2}, {4, 4, 4}, {4, 2, 2}, {1, 4, 4}, {1, 2, 2}}
          : std::vector<CnnLayerSubtile>{{4, 4, 4}, {4, 2, 2}, {1, 4, 4}, {1, 2, 2}};
  CnnLayerSubtile smallest = candidates.front();
  for (const CnnLayerSubtile& sub : candidates) {
    if (sub.rows < problem.pool_size) continue;
    smallest = sub;
    const std::int64_t items = problem.batch * ceil_div(problem.output_channels, sub.channels) *
                               ceil_div(problem.output_height(), windows_of(problem, sub.rows)) *
                               ceil_div(problem.output_width(), windows_of(problem, sub.columns));
    if (items >= kEnoughItems * units) return sub;
  }
  return smallest;
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& device) {
  const bool is_float = problem.type == DataType::float32;
  const std::vector<std::int64_t> sizes = sub_sizes(problem);
  const std::vector<std::int64_t> channels =
      is_float ? std::vector<std::int64_t>{1, 4, 8, 16} : std::vector<std::int64_t>{1, 4};
  const CnnLayerSubtile sub = preferred_sub(problem, device.info().compute_units);
  // What is preferred is compiled for every number of channels, the other for one.
  const auto switch_of = [&](const char* name, const char* meaning, std::int64_t preferred) {
    Tunable tunable{name, meaning, {0, 1}, preferred, "sub_channels", {}};
    for (const std::int64_t size : channels) tunable.pairs.emplace_back(size, preferred);
    tunable.pairs.emplace_back(is_float ? kCnnLayerFormFloats : kCnnLayerFormDoubles, 1 - preferred);
    return tunable;
  };
  // Preferred are tiles of 2 x 2 x 8 sub-tiles, a warp: larger groups gain nothing.
  return {
      {"tile_channels", "output channels of a group", {4, 8, 16, 32, 64}, std::max(2 * sub.channels, 4)},
      {"tile_rows", "rows of outputs of a group", {1, 2, 4, 8, 16}, 2 * windows_of(problem, sub.rows)},
      {"tile_columns", "columns of outputs of a group", {8, 16, 32, 64}, 8 * windows_of(problem, sub.columns)},
      {"sub_channels", "output channels of a thread", channels, sub.channels},
      {"sub_rows", "rows of a thread, before the pool", sizes, sub.rows},
      {"sub_columns", "columns of a thread, before the pool", sizes, sub.columns},
      {"filter_outermost", "1: loops over input channel and filter outside, over the sub-tile inside", {0, 1}, 1},
      {"unroll", "1: the loop over the sub-tile's channels is unrolled", {0, 1}, 1},
      switch_of("fused", "1: bias, ReLU and pool in one loop, 0: in three", 1),
      switch_of("sums_zeroed", "1: the sums are filled with zeros first, 0: the first products begin them", 1),
      // In registers they have no address: of both nvcc 13.0 makes the same instructions.
      {"sums_aligned", "1: the sums begin at a multiple of 128 bytes, where they lie in memory", {0, 1}, 0},
  };
}

/// The smallest tile that any tuning gives is 4 channels of 1 x 8 outputs.
Verdict check(const CnnLayer& problem, const backend::Device& device) {
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  std::int64_t groups = 0;
  const bool passes = __builtin_mul_overflow(ceil_div(problem.output_channels, 4), problem.output_height(), &groups) ||
                      __builtin_mul_overflow(groups, ceil_div(problem.output_width(), 8), &groups) ||
                      __builtin_mul_overflow(groups, problem.batch, &groups);
  if (!passes && static_cast<std::uint64_t>(groups) <= limit) return Verdict::yes();
  return Verdict::no(sentence("the output of cnn_layer has ", problem.batch, " x ", problem.output_channels, " x ",
                              problem.output_height(), " x ", problem.output_width(),
                              " elements, which takes more groups than the ", limit, " of a launch"));
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& tuning) {
  const std::shared_ptr<Context>& context = native(device).context();
  const Cut cut(problem, tuning);
  const Loops loops(tuning);
  if (problem.type == DataType::float64) {
    return std::make_unique<CnnLayerSubtileKernel<double>>(context, problem, cut, loops);
  }
  return std::make_unique<CnnLayerSubtileKernel<float>>(context, problem, cut, loops);
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_subtile() {
  return {
      .name = "subtile",
      .summary = "the study's scheme: tiles a group, sub-tiles in a thread's registers, all four stages on them",
      .check = check,
      .tunables = tunables,
      .make = make,
  };
}

}  // namespace tessera::cuda
