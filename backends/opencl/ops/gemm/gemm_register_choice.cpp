// Chooses the tile and the number of parts of k: for a GPU by a model of the time, fitted to measurements; for a
// processor by two simple rules.
#include "ops/gemm/gemm_register_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "ops/gemm/gemm_oriented.h"
#include "ops/gemm/gemm_register_local.h"
#include "ops/gemm/gemm_split_k.h"
#include "ops/joined_parts.h"

namespace tessera::opencl {

namespace {

/// How long a GPU takes: `start_us` for the launch; and a compute unit `alone_us` for each p, however many groups it
/// has, `group_us` more for each p of each group, and `each_us` for each group. Fitted to {256, 512, 1024, 2048}^3 with
/// every tile and split_k on an H200 (driver 580), where the choice takes 1.005 times as long as the best one in the
/// geometric mean, and at most 1.09 times. Other GPUs have other numbers, but the choice depends on their ratios alone.
/// Where rows begin at any element, what is paid for each p takes `unaligned` times as long, and the start
/// `unaligned_us` more: set after three products of that kind with each tile on an H100, in float32.
struct TileCost {
  std::int64_t tile_m;
  std::int64_t tile_n;
  std::int64_t slices;
  double alone_us;
  double group_us;
  double each_us;
  double start_us;
  double unaligned = 1;
  double unaligned_us = 0;
};
constexpr std::array<TileCost, 5> kFloat32{{{32, 32, 4, 0.0047, 0.00746, 0.20, 2.88, 1.08, 0.3},
                                            {32, 64, 8, 0, 0.01598, 1.46, 1.73, 1.18, 1},
                                            {64, 64, 4, 0, 0.02758, 1.20, 2.10, 1.15, 2.5},
                                            {64, 128, 2, 0, 0.04917, 0.70, 2.37, 1.1, 5.3},
                                            {128, 128, 1, 0.0024, 0.08544, 0, 3.18, 1.36, 8.8}}};
constexpr std::array<TileCost, 4> kFloat64{{{32, 32, 4, 0, 0.01742, 0.48, 2.17},
                                            {64, 64, 4, 0, 0.05068, 2.04, 1.67},
                                            {64, 128, 2, 0, 0.09786, 1.87, 1.72},
                                            {64, 128, 1, 0.0186, 0.08511, 0, 3.32}}};
/// The same by tensor cores: 1.007 times as long as the best choice in the geometric mean, at most 1.12 times.
constexpr std::array<TileCost, 4> kFloat64Tensor{{{32, 32, 4, 0.00345, 0.00898, 0.21, 3.67},
                                                  {64, 32, 2, 0.00926, 0.01326, 0.28, 3.92},
                                                  {64, 64, 1, 0.01079, 0.02140, 0.65, 3.67},
                                                  {128, 64, 1, 0.02101, 0.03690, 2.12, 2.17}}};
/// The time of the launch that adds up parts, and the time of writing and reading one byte of a part.
constexpr double kSecondLaunchUs = 3;
constexpr double kPartByteUs = 0.6e-6;
/// Where the last group of a block adds them up: the time until it knows, of each byte that it reads of its block, and
/// of writing one. Over 15 products in float32 and 6 in float64 on an H200, each with three tiles and 1 to 128 parts,
/// what is chosen so takes 1.03 times as long as the best; without a committed file.
constexpr double kJoinUs = 1;
constexpr double kJoinedByteUs = 15e-6;
constexpr double kLeftByteUs = 0.5e-6;

/// What tiles that are mostly beside a C of so few rows or columns read in a microsecond: on an H100 67 MB for
/// 1 x 2048 x 8192 take 60 us, for 8 x 4096 x 4096 60, 75 MB for 96 of 398 x 8 x 492 58 (without a file).
constexpr std::int64_t kFew = 16;
constexpr double kBytesOfFewPerMicrosecond = 1.25e6;

/// The shortest part of k: shorter ones take longer to begin and to end than to compute.
constexpr std::int64_t kShortestPart = 64;

/// What it takes to leave so many parts in the workspace and to add them up.
double joined_microseconds(const Gemm& problem, const TileCost& cost, std::int64_t parts, const DeviceFacts& facts) {
  const double units = static_cast<double>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  const auto blocks = static_cast<double>(gemm_blocks(problem, cost.tile_m, cost.tile_n));
  const auto bytes_of_block = static_cast<double>(static_cast<std::size_t>(parts) * size_bytes(problem.type)) *
                              static_cast<double>(std::min(problem.m, cost.tile_m)) *
                              static_cast<double>(std::min(problem.n, cost.tile_n));
  return kJoinUs + bytes_of_block * (kJoinedByteUs * std::ceil(blocks / units) + kLeftByteUs * blocks);
}

/// Splits k only where C has so few tiles that threads would have none of their own.
std::int64_t split_for_processor(std::int64_t k, std::uint64_t tiles_of_c, const DeviceFacts& facts) {
  constexpr std::int64_t kShortestPartOfProcessor = 1024;
  std::int64_t split_k = 1;
  for (const std::int64_t parts : kGemmSplits) {
    if (parts > 1 && k / parts < kShortestPartOfProcessor) break;
    split_k = parts;
    if (tiles_of_c * static_cast<std::uint64_t>(parts) >= 2 * facts.info.compute_units) break;
  }
  return split_k;
}

}  // namespace

LocalTuning choose_register_local(const Gemm& given, const DeviceFacts& facts,
                                  const std::vector<LocalTileShape>& shapes) {
  const Gemm problem = gemm_as_computed(given);
  const bool is_double = problem.type == DataType::float64;
  const bool is_aligned = reads_vectors(problem);
  const double units = static_cast<double>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  LocalTuning best{shapes.back(), 1};
  double best_us = std::numeric_limits<double>::infinity();
  std::span<const TileCost> costs = kFloat32;
  if (is_double) costs = facts.float64_tensor_cores != 0 ? kFloat64Tensor : kFloat64;
  for (const TileCost& cost : costs) {
    const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](const LocalTileShape& offered) {
      return offered.tile_m == cost.tile_m && offered.tile_n == cost.tile_n && offered.slices == cost.slices;
    });
    if (shape == shapes.end()) continue;
    const auto blocks = static_cast<double>(gemm_blocks(problem, cost.tile_m, cost.tile_n));
    for (const std::int64_t parts : kGemmSplits) {
      if (parts > 1 && problem.k / parts < kShortestPart) break;
      const auto count = static_cast<double>(parts);
      const double groups_of_unit = std::ceil(blocks * count / units);
      double us = cost.start_us + cost.each_us * groups_of_unit + (is_aligned ? 0 : cost.unaligned_us) +
                  static_cast<double>(problem.k) / count * (cost.alone_us + cost.group_us * groups_of_unit) *
                      (is_aligned ? 1 : cost.unaligned);
      const bool is_joined = elements_of_joined_parts(facts, gemm_blocks(problem, cost.tile_m, cost.tile_n), parts,
                                                      cost.tile_m * cost.tile_n, problem.type) != 0;
      if (is_joined) {
        us += joined_microseconds(problem, cost, parts, facts);
      } else if (parts > 1) {
        const double elements = count * static_cast<double>(problem.batch) * static_cast<double>(problem.m) *
                                static_cast<double>(problem.n);
        us += kSecondLaunchUs + kPartByteUs * static_cast<double>(size_bytes(problem.type)) * elements;
      }
      us = gemm_with_launches_us(us, parts > 1 && !is_joined ? 2 : 1);
      if (us < best_us) {
        best_us = us;
        best = {*shape, parts, us};
      }
    }
  }
  if (std::min(problem.m, problem.n) <= kFew) {
    const double elements = (static_cast<double>(problem.m) + static_cast<double>(problem.n)) *
                            static_cast<double>(problem.k) * static_cast<double>(problem.batch);
    best.microseconds = std::max(best.microseconds,
                                 elements * static_cast<double>(size_bytes(problem.type)) / kBytesOfFewPerMicrosecond);
  }
  return best;
}

/// Takes the narrow tile where the wide one would compute too many columns that are not there.
PanelTuning choose_register_panels(const Gemm& problem, const DeviceFacts& facts,
                                   const std::vector<std::int64_t>& tiles) {
  constexpr double kSpeedOfNarrow = 0.9;  // over that of wide; 14 x 32 and 6 x 64 on Sapphire Rapids cores, PoCL 3.1
  const Gemm p = orient(gemm_as_computed(problem)).problem;
  const auto width_computed = [&](std::int64_t tile) { return static_cast<double>(ceil_div(p.n, tile) * tile); };
  PanelTuning best{tiles.back(), 1};
  if (width_computed(tiles.front()) < kSpeedOfNarrow * width_computed(tiles.back())) best.tile_n = tiles.front();
  best.split_k = split_for_processor(p.k, gemm_blocks(p, 6, best.tile_n), facts);
  return best;
}

std::int64_t choose_register_dots(const Gemm& problem, const DeviceFacts& facts) {
  const Gemm p = orient(gemm_as_computed(problem)).problem;
  return split_for_processor(p.k, gemm_blocks(p, 4, 4), facts);
}

}  // namespace tessera::opencl
