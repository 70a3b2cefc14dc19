// Choice by a model of the time, whose constants were fitted to measurements on an H200.
#include "ops/gemm/gemm_shallow.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "mathematics/division.h"

namespace tessera::cuda {
namespace {

using mathematics::ceil_div;

// Fitted to 76 products on an H200, 21 of them in float64, each with every tile that took less than 2.6 times as long
// as the best and longer than a launch: off by 14 % in the root mean square. Of the products that take longer than
// 4.4 us what is chosen, here or in register, takes 1 % longer than the best; by what was fitted on an H100 before,
// 5 %. Products that read C were not measured.

/// The least that was measured of a launch.
constexpr double kLeast_us = 2.9;

/// What a tile takes, in float32.
struct Cost {
  double start_us;   ///< of a launch with its first loads
  double stage_us;   ///< of each stage of kShallowDepth steps but the first
  double group_us;   ///< of each group that a multiprocessor computes
  double step_us;    ///< and of each step of it
  double of_double;  ///< how many times as long stages and groups take in float64
};
/// One for each of kGemmShallowShapes. What 64 x 128 takes of a stage and in float64 was raised by hand, after products
/// that one group a multiprocessor computes and large ones in float64.
constexpr Cost kCosts[]{
    {2.02, 0.403, 0.304, 0.013, 1.30}, {2.05, 0.825, 0.421, 0.018, 1.31}, {2.08, 0.659, 0.463, 0.025, 1.32},
    {2.13, 0.608, 0.479, 0.026, 1.32}, {3.11, 1.20, 0.769, 0.059, 1.90},  {2.43, 0.715, 0.311, 0.012, 1.25},
    {2.26, 1.33, 0.746, 0.033, 1.42},  {2.15, 0.904, 0.111, 0.005, 1.25}, {2.23, 1.04, 0.113, 0.004, 1.22}};
static_assert(std::size(kCosts) == std::size(kGemmShallowShapes));
/// What a group saves whose tile is empty, and in proportion one with a part of its rows.
constexpr double kEmpty = 0.19;
/// How much longer all that takes where B is read along k, by threads whose neighbours read other rows, once these rows
/// fill lines of memory.
constexpr double kAlongK = 0.057, kLineBytes = 128;
/// What a group takes longer that reads C.
constexpr double kReading = 1.5;

/// Tiles of a row from which one more costs less than sectors that are written in part.
constexpr std::int64_t kTilesThatShift = 8;

std::int64_t sector_of(DataType type) {
  return 32 / static_cast<std::int64_t>(size_bytes(type));
}

double microseconds(const Gemm& problem, std::size_t number, const DeviceLimits& card) {
  const GemmShallowShape& shape = kGemmShallowShapes[number];
  const Cost& cost = kCosts[number];
  const auto k = static_cast<double>(problem.k);
  const double groups = static_cast<double>(gemm_shallow_tiles(problem, shape)) * static_cast<double>(problem.batch);
  const double each = std::ceil(groups / static_cast<double>(card.multiprocessors));
  const double width = problem.type == DataType::float64 ? cost.of_double : 1;
  const double rows_of_tiles = static_cast<double>(ceil_div(problem.m, shape.tile_m()) * shape.tile_m());
  const double filled = 1 - kEmpty * (1 - static_cast<double>(problem.m) / rows_of_tiles);
  const double group_us = (cost.group_us * (problem.beta == 0 ? 1 : kReading) + cost.step_us * k) * filled;
  const double stages_us = cost.stage_us * std::max(std::ceil(k / kShallowDepth) - 1, 0.0);
  const double lines = std::min(k * static_cast<double>(size_bytes(problem.type)) / kLineBytes, 1.0);
  const double along_k = problem.transpose_b ? 1 + kAlongK * lines : 1;
  return std::max(kLeast_us, cost.start_us + (stages_us + each * group_us) * width * along_k);
}

struct Estimate {
  std::size_t number = 0;
  double us = std::numeric_limits<double>::infinity();
};

Estimate fastest(const Gemm& problem, const DeviceLimits& card) {
  Estimate best;
  for (std::size_t i = 0; i < std::size(kGemmShallowShapes); ++i) {
    const double us = microseconds(problem, i, card);
    if (us < best.us) best = {i, us};
  }
  return best;
}

}  // namespace

bool gemm_shallow_shifts(const Gemm& problem, const GemmShallowShape& shape) {
  const std::int64_t sector = sector_of(problem.type);
  const std::int64_t tiles = ceil_div(problem.n, shape.tile_n());
  return shape.may_shift() && problem.ldc % sector != 0 &&
         (tiles >= kTilesThatShift || ceil_div(problem.n + sector - 1, shape.tile_n()) == tiles);
}

std::int64_t gemm_shallow_tiles_n(const Gemm& problem, const GemmShallowShape& shape) {
  const std::int64_t early = gemm_shallow_shifts(problem, shape) ? sector_of(problem.type) - 1 : 0;
  return ceil_div(problem.n + early, shape.tile_n());
}

std::int64_t gemm_shallow_tiles(const Gemm& problem, const GemmShallowShape& shape) {
  return ceil_div(problem.m, shape.tile_m()) * gemm_shallow_tiles_n(problem, shape);
}

const GemmShallowShape& choose_gemm_shallow(const Gemm& problem, const DeviceLimits& card) {
  return kGemmShallowShapes[fastest(problem, card).number];
}

double gemm_shallow_microseconds(const Gemm& problem, const DeviceLimits& card) {
  return fastest(problem, card).us;
}

}  // namespace tessera::cuda
