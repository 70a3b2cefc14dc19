// The tiles of "fused" and "exact_bytes": which ones a device can run, and which is preferred.
#include <algorithm>
#include <string>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_slab.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;
using Tiles = std::vector<RegressionTile>;

/// A work-item alone, whose sums fill the registers: 2 vectors of training rows and as many queries as leave room for
/// what is loaded. Products of bytes need one register more.
RegressionTile tile_of_processor(DataType type, const DeviceFacts& facts) {
  const bool is_wide = facts.vector_bytes == 64;
  if (type == DataType::uint8) {
    const std::int64_t width = is_wide ? 16 : 8;
    const std::int64_t queries = is_wide ? 12 : 4;
    return {queries, 2 * width, queries, 2 * width, width, 1, 2};
  }
  const auto width = static_cast<std::int64_t>((is_wide ? 64 : 32) / size_bytes(type));
  const std::int64_t queries = is_wide ? 14 : 6;
  return {queries, 2 * width, queries, 2 * width, width, 1};
}

/// The first is preferred. Processors are offered a tile through local memory too.
Tiles tiles_of(DataType type, const DeviceFacts& facts) {
  const bool is_processor = facts.info.kind == DeviceKind::cpu;
  Tiles tiles;
  if (is_processor) tiles.push_back(tile_of_processor(type, facts));
  if (type == DataType::uint8) {
    const std::int64_t numbers = is_processor ? 2 : 4;
    if (!is_processor) tiles.push_back({64, 64, 8, 8, 4, 16, numbers});
    tiles.push_back({32, 32, 4, 8, 4, 8, numbers});
  } else if (type == DataType::float32) {
    if (!is_processor) tiles.push_back({64, 64, 8, 8, 4, 16});
    tiles.push_back({32, 32, 4, 8, 4, 8});
  } else {
    if (!is_processor) tiles.push_back({64, 32, 4, 4, 2, 8});
    tiles.push_back({32, 32, 4, 4, 2, 8});
  }
  return tiles;
}

/// With the arrays of kernel_regression_tiles.cl for one panel.
std::uint64_t local_bytes(const RegressionTile& tile, DataType type) {
  const std::int64_t parts = tile.rows / tile.width;
  const std::int64_t met = tile.queries * (tile.rows + parts + 1 + 2);
  const std::int64_t staged = tile.items() > 1 ? 2 * tile.depth * (tile.queries + tile.rows) : 0;
  const std::size_t number_bytes = type == DataType::float64 ? sizeof(double) : sizeof(float);
  return static_cast<std::uint64_t>(met + staged) * number_bytes;
}

Verdict check_tile(const RegressionTile& tile, DataType type, const DeviceInfo& info) {
  const std::string with =
      sentence("kernel_regression with tile_queries = ", tile.queries, " and tile_rows = ", tile.rows);
  const auto items = static_cast<std::uint64_t>(tile.items());
  if (const std::uint64_t most = std::min(info.max_group_size, info.max_group_extent[0]); items > most) {
    return Verdict::no(sentence(with, " takes work-groups of ", items, ", but '", info.name, "' allows ", most));
  }
  if (const std::uint64_t bytes = local_bytes(tile, type); bytes > info.local_memory_bytes) {
    return Verdict::no(sentence(with, " takes ", bytes, " bytes of local memory, but '", info.name, "' has ",
                                info.local_memory_bytes));
  }
  return Verdict::yes();
}

}  // namespace

std::vector<RegressionTile> regression_tiles(DataType type, const DeviceFacts& facts) {
  Tiles tiles = tiles_of(type, facts);
  std::erase_if(tiles, [&](const RegressionTile& tile) { return !check_tile(tile, type, facts.info); });
  return tiles;
}

backend::Verdict check_regression_tiles(const KernelRegression& problem, const DeviceFacts& facts) {
  if (Verdict verdict = check_regression(problem, facts); !verdict) return verdict;
  const RegressionTile smallest = tiles_of(problem.type, facts).back();
  if (regression_tiles(problem.type, facts).empty()) return check_tile(smallest, problem.type, facts.info);
  // Of rows, each of which has a group that computes its length, and pieces of them, each of which an item packs.
  const std::int64_t rows = std::max(problem.training_rows, problem.queries) + mathematics::kMostRegressionBlockRows;
  return check_groups("kernel_regression by tiles",
                      static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(problem.columns / 256 + 2));
}

std::vector<Tunable> regression_tile_tunables(const KernelRegression& problem, const DeviceFacts& facts) {
  const Tiles tiles = regression_tiles(problem.type, facts);
  Tunable queries{.name = "tile_queries",
                  .meaning = "queries of the tile of distances that a work-group computes",
                  .values = {},
                  .preferred = tiles.front().queries};
  Tunable rows{.name = "tile_rows",
               .meaning = "training rows of that tile",
               .values = {},
               .preferred = tiles.front().rows,
               .paired_with = "tile_queries"};
  const auto add = [](std::vector<std::int64_t>& values, std::int64_t value) {
    const auto place = std::lower_bound(values.begin(), values.end(), value);
    if (place == values.end() || *place != value) values.insert(place, value);
  };
  for (const RegressionTile& tile : tiles) {
    add(queries.values, tile.queries);
    add(rows.values, tile.rows);
    rows.pairs.emplace_back(tile.queries, tile.rows);
  }
  return {queries, rows};
}

}  // namespace tessera::opencl
