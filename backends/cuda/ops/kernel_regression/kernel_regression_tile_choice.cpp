// The tiles of "fused", "fused_split" and "exact_bytes": which ones a card can run, which is preferred, and their
// launches.
#include <algorithm>
#include <limits>
#include <utility>

#include "backend/sentence.h"
#include "cuda_error.h"
#include "mathematics/kernel_regression_slab.h"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

std::int64_t clusters_at_once(const RegressionClusters& clusters, const DeviceLimits& card) {
  return std::max<std::int64_t>(card.multiprocessors / clusters.blocks, 1);
}

template <class T>
class RegressionInTiles final : public RegressionByStates<T> {
 public:
  RegressionInTiles(const std::shared_ptr<Context>& context, const KernelRegression& problem,
                    const RegressionTile& tile)
      : RegressionByStates<T>(context, problem, RegressionTilesPlan(problem, tile.packing), tile.packing),
        queries_(tile.queries),
        clusters_(tile.clusters) {
    grid_.group_size[0] = static_cast<unsigned>(tile.threads);
    grid_.dynamic_shared_bytes = static_cast<unsigned>(tile.shared_bytes);
    grid_.overlaps = this->overlaps();
    if (clusters_.blocks != 0) grid_.groups[1] = grid_.cluster_y = static_cast<unsigned>(clusters_.blocks);
    function_ = std::make_unique<CudaFunction>(context, tile.image, tile.function, grid_);
    check(context->api().cuFuncSetAttribute(context->function(tile.image, tile.function),
                                            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            static_cast<int>(context->limits().shared_bytes)),
          "allowing a kernel all of the shared memory");
  }

 private:
  void launch_round(backend::Queue& queue, RegressionTileArguments<T>& arguments, const backend::Slice&) override {
    LaunchGrid grid = grid_;
    constexpr std::int64_t kCachedQueryBytes = std::int64_t{12} << 20;
    const auto tile_bytes = queries_ * arguments.depth * static_cast<std::int64_t>(sizeof(T));
    arguments.query_tiles = ceil_div(arguments.queries_of_round, queries_);
    arguments.tiles_at_once = std::clamp<std::int64_t>(kCachedQueryBytes / tile_bytes, 1, arguments.query_tiles);
    const std::int64_t pieces = arguments.query_tiles * this->plan().blocks();
    grid.groups[0] = static_cast<unsigned>(
        clusters_.blocks == 0 ? pieces : std::min(pieces, clusters_at_once(clusters_, this->context()->limits())));
    function_->enqueue(queue, arguments, grid);
  }

  std::int64_t queries_;
  RegressionClusters clusters_;
  LaunchGrid grid_;
  std::unique_ptr<CudaFunction> function_;
};

bool fits(const RegressionTile& tile, const DeviceLimits& card) {
  return tile.shared_bytes <= card.shared_bytes;
}

/// How long the busiest multiprocessor computes, as efforts for a query and a block of training rows: groups come in
/// waves, and a multiprocessor shares its time among those that it holds.
std::int64_t time_of(const RegressionTile& tile, const KernelRegression& problem, const DeviceLimits& card) {
  // The last block of a set may be short: a few of them take a whole one's time.
  const std::int64_t rows_of_all = ceil_div(problem.queries, tile.queries) * problem.training_rows;
  const std::int64_t groups =
      std::max<std::int64_t>(ceil_div(rows_of_all, mathematics::regression_block_rows(problem)), 1);
  if (tile.clusters.blocks != 0) {
    return ceil_div<std::int64_t>(groups, clusters_at_once(tile.clusters, card) * tile.clusters.pieces) *
           tile.clusters.time * tile.effort;
  }
  const std::int64_t of_wave = std::min(ceil_div<std::int64_t>(groups, card.multiprocessors), tile.blocks);
  return ceil_div<std::int64_t>(groups, card.multiprocessors * of_wave) * of_wave * tile.queries * tile.effort;
}

/// The tile that takes the shortest time, of equal ones the first. One fits: check_regression_tiles() has seen to it.
const RegressionTile& preferred_tile(const KernelRegression& problem, const DeviceLimits& card,
                                     const std::vector<RegressionTile>& tiles) {
  const RegressionTile* best = nullptr;
  for (const RegressionTile& tile : tiles) {
    if (!fits(tile, card)) continue;
    if (best == nullptr || time_of(tile, problem, card) < time_of(*best, problem, card)) best = &tile;
  }
  return best == nullptr ? tiles.back() : *best;
}

}  // namespace

Verdict check_regression_bytes(const KernelRegression& problem) {
  constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max() / (255 * 255);
  if (problem.type != DataType::uint8 || problem.columns <= kMostColumns) return Verdict::yes();
  return Verdict::no(sentence("columns of kernel_regression is ", problem.columns, ", but up to ", kMostColumns,
                              " a distance of bytes is an int32"));
}

Verdict check_regression_groups(const KernelRegression& problem, const backend::Device& device) {
  const DeviceLimits& card = native(device).context()->limits();
  // A launch packs a row by a warp, or adds up a column by a thread; groups that meet a block of rows are fewer.
  const auto rows = static_cast<std::uint64_t>(std::max(problem.training_rows, problem.queries));
  const auto pieces = static_cast<std::uint64_t>(problem.columns / kRegressionCentreThreads);
  const std::uint64_t groups = std::max(rows / kRegressionPackWarps, pieces) + kRegressionPadding;
  if (groups <= card.groups[0]) return Verdict::yes();
  return Verdict::no(sentence("the rows of kernel_regression, ", rows, " x ", problem.columns, ", take ", groups,
                              " groups, but a launch has at most ", card.groups[0]));
}

Verdict check_regression_tiles(const KernelRegression& problem, const backend::Device& device,
                               const std::vector<RegressionTile>& tiles) {
  const DeviceLimits& card = native(device).context()->limits();
  const RegressionTile& smallest =
      *std::min_element(tiles.begin(), tiles.end(),
                        [](const auto& one, const auto& other) { return one.shared_bytes < other.shared_bytes; });
  if (!fits(smallest, card)) {
    return Verdict::no(sentence("kernel_regression with tile_queries = ", smallest.queries,
                                " and tile_rows = ", smallest.rows, " takes ", smallest.shared_bytes,
                                " bytes of shared memory, but the card has ", card.shared_bytes));
  }
  return check_regression_groups(problem, device);
}

std::vector<Tunable> regression_tile_tunables(const KernelRegression& problem, const backend::Device& device,
                                              const std::vector<RegressionTile>& tiles) {
  const DeviceLimits& card = native(device).context()->limits();
  const RegressionTile& preferred = preferred_tile(problem, card, tiles);
  Tunable queries{.name = "tile_queries",
                  .meaning = "queries of the tile of distances that a group computes",
                  .values = {},
                  .preferred = preferred.queries};
  Tunable rows{.name = "tile_rows",
               .meaning = "training rows of that tile",
               .values = {},
               .preferred = preferred.rows,
               .paired_with = "tile_queries"};
  const auto add = [](std::vector<std::int64_t>& values, std::int64_t value) {
    const auto place = std::lower_bound(values.begin(), values.end(), value);
    if (place == values.end() || *place != value) values.insert(place, value);
  };
  for (const RegressionTile& tile : tiles) {
    if (!fits(tile, card)) continue;
    add(queries.values, tile.queries);
    add(rows.values, tile.rows);
    rows.pairs.emplace_back(tile.queries, tile.rows);
  }
  return {queries, rows};
}

const RegressionTile& chosen_tile(const std::vector<RegressionTile>& tiles, const Tuning& tuning) {
  return *std::find_if(tiles.begin(), tiles.end(), [&](const RegressionTile& tile) {
    return tile.queries == tuning.at("tile_queries") && tile.rows == tuning.at("tile_rows");
  });
}

std::unique_ptr<backend::Kernel> make_regression_tiles(const KernelRegression& problem,
                                                       const std::shared_ptr<Context>& context,
                                                       const RegressionTile& tile) {
  return for_rows(problem.type, [&](auto element) -> std::unique_ptr<backend::Kernel> {
    return std::make_unique<RegressionInTiles<decltype(element)>>(context, problem, tile);
  });
}

}  // namespace tessera::cuda
