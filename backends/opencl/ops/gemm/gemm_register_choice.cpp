// The choice of tile and parts of k, from measurements.
#include "ops/gemm/gemm_register_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tessera::opencl {

namespace {

/// How long a compute unit of a GPU takes: `alone_us` for each p that it walks, however many groups it has, and
/// `group_us` for each p of each group. Least squares over 64 shapes, all of {256, 512, 1024, 2048}^3, every tile and
/// split_k, on an H200 (driver 580): the choice that follows took at most 1.07 times as long as the best one. On
/// another GPU the numbers differ, but it is their ratios that decide.
struct TileCost {
  std::int64_t tile;
  std::int64_t rows;
  std::int64_t columns;
  double alone_us;
  double group_us;
};
constexpr std::array<TileCost, 4> kFloat32{{{16, 16, 64, 0.016, 0.0079},
                                            {32, 32, 64, 0.012, 0.0165},
                                            {64, 64, 64, 0.017, 0.0242},
                                            {128, 128, 128, 0.0025, 0.0900}}};
constexpr std::array<TileCost, 4> kFloat64{{{16, 16, 64, 0.015, 0.016},
                                            {32, 32, 64, 0.018, 0.030},
                                            {64, 64, 64, 0.020, 0.0455},
                                            {128, 64, 128, 0.020, 0.0835}}};
/// The launch that adds up parts, and each element of a part, written and read.
constexpr double kSecondLaunchUs = 5;
constexpr double kPartElementUs = 3.9e-6;

/// Parts shorter than this are all beginning and end.
constexpr std::int64_t kShortestPart = 64;

RegisterTuning choose_for_gpu(const Gemm& problem, const DeviceFacts& facts, const std::vector<std::int64_t>& tiles) {
  const bool is_double = problem.type == DataType::float64;
  const double units = static_cast<double>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  RegisterTuning best{1, tiles.back(), 1};
  double best_us = std::numeric_limits<double>::infinity();
  for (const TileCost& cost : is_double ? kFloat64 : kFloat32) {
    if (std::find(tiles.begin(), tiles.end(), cost.tile) == tiles.end()) continue;
    const auto blocks = static_cast<double>(gemm_blocks(problem, cost.rows, cost.columns));
    for (const std::int64_t parts : kRegisterSplits) {
      if (parts > 1 && problem.k / parts < kShortestPart) break;
      const auto count = static_cast<double>(parts);
      const double groups_of_unit = std::ceil(blocks * count / units);
      double us = static_cast<double>(problem.k) / count * (cost.alone_us + cost.group_us * groups_of_unit);
      if (parts > 1) {
        const double elements = count * static_cast<double>(problem.batch) * static_cast<double>(problem.m) *
                                static_cast<double>(problem.n);
        us += kSecondLaunchUs + kPartElementUs * (is_double ? 2 : 1) * elements;
      }
      if (us < best_us) {
        best_us = us;
        best = {1, cost.tile, parts};
      }
    }
  }
  return best;
}

/// A narrow tile where a wide one would compute columns that are not there. k is split only where C is so small that
/// threads would have no tile of their own.
RegisterTuning choose_for_processor(const Gemm& problem, const DeviceFacts& facts,
                                    const std::vector<std::int64_t>& tiles) {
  constexpr double kSpeedOfNarrow = 0.9;  // of 14 x 32 beside 6 x 64, 1024^3, two Sapphire Rapids cores, PoCL 3.1
  constexpr std::int64_t kShortestPartOfProcessor = 1024;
  const Oriented oriented = orient(problem);
  const Gemm& p = oriented.problem;
  const auto width_computed = [&](std::int64_t tile) { return static_cast<double>(pieces_of(p.n, tile) * tile); };
  RegisterTuning best{0, tiles.back(), 1};
  if (width_computed(tiles.front()) < kSpeedOfNarrow * width_computed(tiles.back())) best.tile = tiles.front();
  const std::uint64_t tiles_of_c = oriented.is_for_dots() ? gemm_blocks(p, 4, 4) : gemm_blocks(p, 6, best.tile);
  for (const std::int64_t parts : kRegisterSplits) {
    if (parts > 1 && p.k / parts < kShortestPartOfProcessor) break;
    best.split_k = parts;
    if (tiles_of_c * static_cast<std::uint64_t>(parts) >= 2 * facts.info.compute_units) break;
  }
  return best;
}

}  // namespace

RegisterTuning choose_register(const Gemm& problem, const DeviceFacts& facts, std::int64_t local_memory,
                               const std::vector<std::int64_t>& tiles) {
  const Gemm computed = gemm_as_computed(problem);
  return local_memory != 0 ? choose_for_gpu(computed, facts, tiles) : choose_for_processor(computed, facts, tiles);
}

}  // namespace tessera::opencl
