// The tiles of "fused" and "exact_bytes"; which tiles a device can run, and the tunables that choose one.
#include <algorithm>
#include <limits>
#include <string>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_slab.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

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

/// They are offered a tile through local memory too.
RegressionTiles tiles_of_processor(DataType type, const DeviceFacts& facts) {
  const RegressionTile local = type == DataType::uint8     ? RegressionTile{32, 32, 4, 8, 4, 8, 2}
                               : type == DataType::float32 ? RegressionTile{32, 32, 4, 8, 4, 8}
                                                           : RegressionTile{32, 32, 4, 4, 2, 8};
  return {tile_of_processor(type, facts), local};
}

/// In the order of preference, if they fill the device.
RegressionTiles tiles_of_gpu(DataType type, const DeviceFacts& facts) {
  if (const int cores = facts.float64_tensor_cores; type == DataType::float64 && cores != 0) {
    return {{64, 64, 4, 8, 4, 8, 1, 4, cores}, {32, 64, 4, 4, 4, 16, 1, 3, cores}};
  }
  switch (type) {
    case DataType::uint8: return {{64, 64, 8, 8, 4, 16, 4}, {32, 32, 4, 8, 4, 8, 4}};
    case DataType::float32:
      return {{64, 64, 8, 8, 4, 16}, {64, 128, 8, 8, 4, 16}, {32, 64, 4, 4, 4, 16}, {32, 32, 4, 8, 4, 8}};
    default: return {{64, 32, 4, 4, 2, 8}, {32, 32, 4, 4, 2, 8}};
  }
}

/// With the arrays of kernel_regression_tensor.cl, kernel_regression_wgmma.cl, kernel_regression_split.cl, or those of
/// kernel_regression_meeting.cl for one panel.
std::uint64_t local_bytes(const RegressionTile& tile, DataType type) {
  constexpr auto kWord = static_cast<std::int64_t>(sizeof(cl_uint));
  if (tile.is_of_bytes_tensor()) {
    constexpr std::int64_t kListBytes = 16 * kWord;  // of a work-item
    constexpr std::int64_t kBarrierBytes = 16;
    constexpr std::int64_t kStepsOfStage = 2;                    // of warp groups
    constexpr std::int64_t kKnownBytes = 4 * (36 + 32) * kWord;  // of a tile's rows, two tiles' at a time
    const std::int64_t step = tile.depth * kWord;
    if (tile.is_of_warp_groups) {
      constexpr std::int64_t kGroups = 2;
      const std::int64_t stage = tile.rows * kStepsOfStage * step + kBarrierBytes;
      return static_cast<std::uint64_t>(tile.stages * stage + kGroups * 2 * kKnownBytes);
    }
    const std::int64_t stage = (tile.queries + tile.rows) * step;
    return static_cast<std::uint64_t>(tile.stages * stage + 2 * kKnownBytes + tile.items() * kListBytes);
  }
  if (tile.is_split) {
    constexpr std::int64_t kSplitKnownBytes = 3 * 4 * 36 * kWord;  // of a tile's rows, two tiles' at a time
    return static_cast<std::uint64_t>(tile.stages * (tile.queries + tile.rows) * tile.depth * kWord +
                                      2 * kSplitKnownBytes);
  }
  const std::int64_t parts = tile.rows / tile.width;
  const bool is_alone = tile.items() == 1;
  constexpr std::int64_t kPadding = 4;  // of both operands, as tensor cores read them
  std::int64_t staged = is_alone ? 0 : 2 * tile.depth * (tile.queries + tile.rows);
  if (tile.float64_cores != 0) staged = tile.stages * tile.depth * (tile.queries + tile.rows + 2 * kPadding);
  const std::int64_t distances = tile.queries * (tile.rows + (tile.shares_weights() ? tile.width : 0));
  const std::int64_t met = std::max(distances, staged) + tile.queries * (parts + 1 + 2);
  const std::size_t number_bytes = type == DataType::float64 ? sizeof(double) : sizeof(float);
  const std::size_t sum_bytes = tile.shares_weights() ? 3 * sizeof(cl_double) : 0;
  return static_cast<std::uint64_t>(met) * number_bytes + static_cast<std::uint64_t>(tile.queries) * sum_bytes;
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

RegressionTiles those_that_fit(RegressionTiles tiles, DataType type, const DeviceFacts& facts) {
  std::erase_if(tiles, [&](const RegressionTile& tile) { return !check_tile(tile, type, facts.info); });
  return tiles;
}

}  // namespace

std::int64_t regression_block_rows(const KernelRegression& problem, const RegressionTile& tile) noexcept {
  const std::int64_t rows = mathematics::regression_block_rows(problem);
  // The tiles of exact_bytes_tensor were measured with these, and fused_split meets rows as it does. Others compute
  // longer for a block: few queries of a small set fill a GPU only if there are more of them. A larger set has enough,
  // and where a block begins most rows weigh.
  constexpr std::int64_t kSmall = 256, kOfSmall = 128;
  return tile.is_of_bytes_tensor() || tile.is_split || rows > kSmall ? rows : std::min(rows, kOfSmall);
}

RegressionTiles regression_tiles(const KernelRegression& problem, const DeviceFacts& facts) {
  const bool is_cpu = facts.info.kind == DeviceKind::cpu;
  RegressionTiles tiles = is_cpu ? tiles_of_processor(problem.type, facts) : tiles_of_gpu(problem.type, facts);
  for (RegressionTile& tile : tiles) tile.has_other_sums = problem.outputs + problem.classes > 1;
  if (is_cpu) return tiles;
  const auto units = static_cast<std::int64_t>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  const auto groups_of = [&](const RegressionTile& tile) {
    return ceil_div(problem.queries, tile.queries) *
           ceil_div(problem.training_rows, regression_block_rows(problem, tile));
  };
  // On an H200 with 3.6 groups of 64 x 64 a unit, tiles of 64 x 128 with as many groups take 0.88 of the time; with 36
  // groups a unit they take 1.12 of it.
  constexpr std::int64_t kItemsOfUnit = 448;
  auto preferred = std::find_if(tiles.begin(), tiles.end(), [&](const auto& tile) {
    return groups_of(tile) * tile.items() >= units * kItemsOfUnit;
  });
  if (preferred == tiles.end()) {
    preferred = std::max_element(tiles.begin(), tiles.end(), [&](const auto& one, const auto& other) {
      return one.items() * groups_of(one) < other.items() * groups_of(other);
    });
  }
  std::rotate(tiles.begin(), preferred, preferred + 1);
  return tiles;
}

Verdict check_regression_bytes(const KernelRegression& problem) {
  if (problem.type != DataType::uint8) {
    return Verdict::no(
        sentence("the type of kernel_regression is ", to_string(problem.type), ", but exact_bytes takes uint8 alone"));
  }
  // 255^2 for each.
  constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max() / (255 * 255);
  if (problem.columns <= kMostColumns) return Verdict::yes();
  return Verdict::no(sentence("columns of kernel_regression is ", problem.columns, ", but up to ", kMostColumns,
                              " a distance of bytes is an int32"));
}

Verdict check_regression_words(const KernelRegression& problem, std::string_view variant) {
  if (Verdict verdict = check_regression_bytes(problem); !verdict) return verdict;
  constexpr std::int64_t kMostColumns = (1 << 26) / (255 * 255);
  if (problem.columns > kMostColumns) {
    return Verdict::no(sentence("columns of kernel_regression is ", problem.columns, ", but up to ", kMostColumns, " ",
                                variant, " lists a distance beside its row"));
  }
  if (problem.outputs != 1 || problem.classes != 0) {
    return Verdict::no(sentence("kernel_regression has ", problem.outputs, " outputs and ", problem.classes,
                                " classes, but ", variant, " adds up one output and no votes"));
  }
  return Verdict::yes();
}

Verdict check_regression_tiles(const KernelRegression& problem, const DeviceFacts& facts,
                               const RegressionTiles& tiles) {
  if (Verdict verdict = check_regression(problem, facts); !verdict) return verdict;
  if (Verdict verdict = check_tile(tiles.back(), problem.type, facts.info);
      !verdict && those_that_fit(tiles, problem.type, facts).empty()) {
    return verdict;
  }
  // Of rows, each of which has a group that computes its length, and pieces of them, each of which an item packs.
  const std::int64_t rows = std::max(problem.training_rows, problem.queries) + mathematics::kMostRegressionBlockRows;
  return check_groups("kernel_regression by tiles",
                      static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(problem.columns / 256 + 2));
}

std::vector<Tunable> regression_tile_tunables(const KernelRegression& problem, const DeviceFacts& facts,
                                              const RegressionTiles& all_tiles) {
  const RegressionTiles tiles = those_that_fit(all_tiles, problem.type, facts);
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

std::int64_t regression_blocks_of_group(const RegressionTile& tile, const DeviceFacts& facts, std::int64_t blocks,
                                        std::int64_t queries, std::int64_t rows_of_block) {
  if (!tile.is_of_warp_groups) return 1;
  constexpr std::int64_t kMostBlocks = 4;
  constexpr double kStartTiles = 0.6;
  const auto units = static_cast<std::int64_t>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  const auto tiles_of_block = static_cast<double>(ceil_div(rows_of_block, tile.rows));
  std::int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t each = 1; each <= std::min(kMostBlocks, blocks); ++each) {
    const std::int64_t groups = ceil_div(blocks, each) * (queries / tile.queries);
    const double tiles =
        static_cast<double>(ceil_div(groups, units)) * (static_cast<double>(each) * tiles_of_block + kStartTiles);
    if (tiles < least) {
      best = each;
      least = tiles;
    }
  }
  return best;
}

}  // namespace tessera::opencl
