// cnn_layer, subtile: the study's scheme. The row, its tunables, and where the output is cut. See
// cnn_layer_subtile.cl.
#include <algorithm>

#include "opencl_embedded.h"
#include "opencl_known_faults.h"
#include "ops/cnn_layer/cnn_layer_launch.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::opencl {

namespace {

/// Output channels that every sub-tile divides.
constexpr std::int64_t kLargestSubChannels = 16;
/// Work-items of a group at most; they compute the sub-tiles of a larger tile in turns.
constexpr std::int64_t kMostItems = 256;
/// On a processor always as many, because drivers there compile a kernel for each size of a group.
constexpr std::int64_t kItemsOfProcessor = 16;

/// Outputs of a sub-tile along one axis: all windows that fit for pools beside each other, else one.
std::int64_t windows_of(const CnnLayer& problem, std::int64_t sums) {
  if (problem.pool_size == 1) return sums;
  return has_plain_pool(problem) ? sums / 2 : 1;
}

/// Tiles of cnn_layer_subtile.cl.
struct CnnLayerTiles {
  cl_long weights_step;
  cl_long tiles_x, tiles_y, tiles_channels;
  cl_long items_x, items_y, items_channels;
  cl_long windows_x, windows_y;

  [[nodiscard]] std::int64_t items() const { return items_x * items_y * items_channels; }
};
static_assert(sizeof(CnnLayerTiles) == 72, "cnn_layer_subtile.cl says so too");

CnnLayerTiles tiles_of(const CnnLayer& problem, const Tuning& tuning) {
  const std::int64_t sub_channels = tuning.at("sub_channels");
  CnnLayerTiles tiles{};
  tiles.windows_x = windows_of(problem, tuning.at("sub_columns"));
  tiles.windows_y = windows_of(problem, tuning.at("sub_rows"));
  tiles.items_x = ceil_div(tuning.at("tile_columns"), tiles.windows_x);
  tiles.items_y = ceil_div(tuning.at("tile_rows"), tiles.windows_y);
  tiles.items_channels = ceil_div(tuning.at("tile_channels"), sub_channels);
  tiles.tiles_x = ceil_div(problem.output_width(), tiles.items_x * tiles.windows_x);
  tiles.tiles_y = ceil_div(problem.output_height(), tiles.items_y * tiles.windows_y);
  tiles.tiles_channels = ceil_div(problem.output_channels, tiles.items_channels * sub_channels);
  return tiles;
}

/// Groups of the smallest tile that any tuning gives: 4 channels of 1 x 8 outputs.
backend::Verdict check(const CnnLayer& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (backend::Verdict verdict = check_cnn_layer_type(problem, facts); !verdict) return verdict;
  if (backend::Verdict verdict = check_known_faults("cnn_layer", "subtile", facts); !verdict) return verdict;
  const auto count = [](std::int64_t length, std::int64_t piece) {
    return static_cast<std::uint64_t>(ceil_div(length, piece));
  };
  return check_groups("cnn_layer in tiles of 4 channels of 1 x 8 outputs",
                      count(problem.output_channels, 4) * static_cast<std::uint64_t>(problem.output_height()) *
                          count(problem.output_width(), 8) * static_cast<std::uint64_t>(problem.batch));
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device& device) {
  const bool is_double = problem.type == DataType::float64;
  const bool is_cpu = native(device).facts().info.kind == DeviceKind::cpu;
  const auto sizes = [&](std::initializer_list<std::int64_t> all) {
    std::vector<std::int64_t> fitting;
    for (const std::int64_t size : all) {
      if (size >= problem.pool_size) fitting.push_back(size);
    }
    return fitting;
  };
  const std::int64_t sub_columns = problem.pool_size == 3 || !(is_double || is_cpu) ? 4 : 2;
  const std::int64_t sub_rows = problem.pool_size == 3 ? 4 : 2;
  // On an H200 (driver 580) three loops are faster: 16.1 TFLOP/s for the study's layer, 13.8 in one. On PoCL 3.1 one
  // is.
  const std::int64_t fused = is_cpu ? 1 : 0;
  return {
      {"tile_channels", "output channels of a work-group", {4, 8, 16, 32, 64, 128}, is_cpu ? 16 : 64},
      {"tile_rows", "rows of outputs of a work-group", {1, 2, 4, 8, 16}, 4},
      {"tile_columns", "columns of outputs of a work-group", {8, 14, 16, 28, 32}, 16},
      {"sub_channels", "output channels of a work-item", {1, 4, 8, 16}, is_double ? 8 : 16},
      {"sub_rows", "rows of a work-item, before the pool", sizes({1, 2, 4}), sub_rows},
      {"sub_columns", "columns of a work-item, before the pool", sizes({1, 2, 4, 14}), sub_columns},
      {"filter_outermost", "1: loops over input channel and filter outside, over the sub-tile inside", {0, 1}, 1},
      {"unroll", "1: the loop over the sub-tile's channels is unrolled", {0, 1}, 1},
      {"fused", "1: bias, ReLU and pool in one loop, 0: in three", {0, 1}, fused},
      {"aligned", "1: weights begin at multiples of 16 bytes and are read as vectors", {0, 1}, 1},
      {"sums_aligned", "1: the sums' private array begins at a multiple of 128 bytes", {0, 1}, 0},
      {"sums_zeroed", "1: the sums are filled with zeros first, 0: the first products begin them", {0, 1}, 1},
      {"global_ids", "1: places follow from get_global_id, 0: from get_group_id and get_local_id", {0, 1}, 0},
  };
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& tuning) {
  const OpenclDevice& opencl = native(device);
  std::string options;
  for (const auto& [option, tunable] :
       {std::pair{"SUB_CHANNELS", "sub_channels"}, std::pair{"SUB_ROWS", "sub_rows"},
        std::pair{"SUB_COLUMNS", "sub_columns"}, std::pair{"FILTER_OUTERMOST", "filter_outermost"},
        std::pair{"UNROLL", "unroll"}, std::pair{"FUSED", "fused"}, std::pair{"ALIGNED", "aligned"},
        std::pair{"SUMS_ALIGNED", "sums_aligned"}, std::pair{"SUMS_ZEROED", "sums_zeroed"},
        std::pair{"GLOBAL_IDS", "global_ids"}}) {
    options += std::string(" -D") + option + "=" + std::to_string(tuning.at(tunable));
  }
  // A row that is an element longer than whole vectors begins anywhere.
  CnnWeightsForm form = cnn_weights_form(problem);
  form.panel = ceil_div(problem.output_channels, kLargestSubChannels) * kLargestSubChannels +
               (tuning.at("aligned") != 0 ? 0 : 1);
  CnnLayerTiles tiles = tiles_of(problem, tuning);
  tiles.weights_step = form.panel;

  OperatorLaunch launch;
  launch.kernel = opencl.kernel(cnn_layer_program("cnn_layer_subtile", embedded::cnn_layer_subtile, problem, options));
  const bool is_cpu = opencl.facts().info.kind == DeviceKind::cpu;
  const auto items = static_cast<std::size_t>(std::min({is_cpu ? kItemsOfProcessor : tiles.items(), kMostItems,
                                                        static_cast<std::int64_t>(launch.kernel->max_group_size())}));
  const auto groups = static_cast<std::size_t>(problem.batch * tiles.tiles_channels * tiles.tiles_y * tiles.tiles_x);
  launch.range = {1, {groups * items, 1, 1}, {items, 1, 1}};
  launch.memory = cnn_layer_operands(problem);
  launch.set_structs(cnn_layer_shape(problem), tiles);
  return std::make_unique<OpenclKernel>(std::move(launch), prepare_cnn_weights(problem, opencl, form));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_subtile() {
  return {.name = "subtile",
          .summary = "the study's scheme: tiles a work-group, sub-tiles in private memory, all four stages on them",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
