// Choice by a model of the time, whose constants were fitted to measurements on an H100.
#include "ops/gemm/gemm_shallow.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "mathematics/division.h"

namespace tessera::cuda {
namespace {

using mathematics::ceil_div;

// Fitted to 66 products on an H100, 8 of them in float64, each with every tile that took less than 1.7 times as long
// as the best: off by 15 % in the root mean square, and what is chosen takes 3 % longer than the best. Products that
// read C were not measured.

/// The least that was measured of a launch.
constexpr double kLeast_us = 2.9;
/// Of a launch with its first loads, and for each of kGemmShallowShapes of a step of k for latency; in float64 so many
/// times as much.
constexpr double kStart_us = 2.3;
constexpr double kLatency_us[]{0.02, 0.028, 0.028, 0.006, 0.13, 0.035, 0.02, 0.047, 0.039};
constexpr double kLatencyOfDouble = 1.375;
/// Of a multiprocessor for each group of them, and for each step of k of such a group; in float64 twice as much.
constexpr double kGroup_us[]{0.219, 0.399, 0.489, 0.371, 1.15, 0.19, 0.274, 0.084, 0.085};
constexpr double kStep_us[]{0.0126, 0.0189, 0.0212, 0.0291, 0.036, 0.0205, 0.0631, 0.0045, 0.0046};
/// How much longer all that takes where B is read along k, by threads whose neighbours read other rows, once these rows
/// fill lines of memory: 16 x 252 x 54 by 59 took 9.4 to 15.2 us there, 92 x 321 x 31 by 15 9.8 and 13.2, 6 x 22 x 53
/// by 125 8.2 and 13.8. Where a line holds several rows less is read in vain: 500 x 275 x 9 by 8 took 5.4.
constexpr double kAlongK = 0.5, kLineBytes = 128;
/// What a group takes longer that reads C.
constexpr double kReading = 1.5;

/// Tiles of a row from which one more costs less than sectors that are written in part.
constexpr std::int64_t kTilesThatShift = 8;

std::int64_t sector_of(DataType type) {
  return 32 / static_cast<std::int64_t>(size_bytes(type));
}

double microseconds(const Gemm& problem, std::size_t number, const DeviceLimits& card) {
  const GemmShallowShape& shape = kGemmShallowShapes[number];
  const auto k = static_cast<double>(problem.k);
  const double groups = static_cast<double>(gemm_shallow_tiles(problem, shape)) * static_cast<double>(problem.batch);
  const double each = std::ceil(groups / static_cast<double>(card.multiprocessors));
  const double width = static_cast<double>(size_bytes(problem.type)) / sizeof(float);
  const double group_us = kGroup_us[number] * (problem.beta == 0 ? 1 : kReading) + kStep_us[number] * k;
  const double latency_us = kLatency_us[number] * (problem.type == DataType::float64 ? kLatencyOfDouble : 1);
  const double lines = std::min(k * static_cast<double>(size_bytes(problem.type)) / kLineBytes, 1.0);
  const double along_k = problem.transpose_b ? 1 + kAlongK * lines : 1;
  return std::max(kLeast_us, kStart_us + (latency_us * k + each * width * group_us) * along_k);
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
