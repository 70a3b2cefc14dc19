// Choice by a model of the time. Its constants are those of OpenCL's split on an H200, whose kernel is the same but for
// its language. No card of sm_80 was measured. There the model is careful: float32 runs at half of an H200's rate for
// each multiprocessor and clock, and mma.sync nearly at an H200's, so what is ahead here is further ahead there.
#include "ops/gemm/gemm_split_mma_choice.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "backend/sentence.h"
#include "mathematics/division.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;
using mathematics::ceil_div;

/// Of kSplitMmaShapes: for a step of 16 of k, what a block takes that is alone on a multiprocessor, and each further
/// one; and to begin and to store its tile.
struct Times {
  double alone_us;
  double more_us;
  double each_us;
};
constexpr Times kTimes[]{{0.29, 0.08, 5}, {0.76, 0.28, 7}};
static_assert(std::size(kTimes) == std::size(kSplitMmaShapes));
/// To prepare: a launch, and bytes read and written in a microsecond.
constexpr double kPrepareStart_us = 4.5;
constexpr double kPrepareBytesPerMicrosecond = 2.8e6;

/// Of so many blocks at once on a multiprocessor.
double blocks_us(const Times& times, double steps, std::int64_t blocks) {
  if (blocks == 0) return 0;
  return steps * (times.alone_us + times.more_us * static_cast<double>(blocks - 1)) + times.each_us;
}

struct Estimate {
  std::size_t shape;
  double us;
};

Estimate fastest(const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card) {
  Estimate best{0, gemm_split_mma_microseconds(problem, kind, 0, card)};
  for (std::size_t i = 1; i < std::size(kSplitMmaShapes); ++i) {
    const double us = gemm_split_mma_microseconds(problem, kind, i, card);
    if (us < best.us) best = {i, us};
  }
  return best;
}

}  // namespace

double split_mma_products_microseconds(double tiles, double steps, std::size_t shape, const DeviceLimits& card) {
  const Times& times = kTimes[shape];
  const std::int64_t at_once = kSplitMmaShapes[shape].blocks;
  const auto of_unit = static_cast<std::int64_t>(
      std::ceil(tiles / static_cast<double>(std::max<std::uint32_t>(card.multiprocessors, 1))));
  return static_cast<double>(of_unit / at_once) * blocks_us(times, steps, at_once) +
         blocks_us(times, steps, of_unit % at_once);
}

double gemm_split_mma_microseconds(const Gemm& problem, GemmSplitKind kind, std::size_t shape,
                                   const DeviceLimits& card) {
  const GemmSplitTiling tiling = tiling_of(kSplitMmaShapes[shape]);
  const std::int64_t rows_of_a = tiling.padded_rows_of_a(problem);
  const std::int64_t rows_of_b = tiling.padded_rows_of_b(problem);
  const auto batch = static_cast<double>(problem.batch);
  const double tiles = static_cast<double>(rows_of_a / tiling.tile_m) * static_cast<double>(rows_of_b / tiling.tile_n);
  // scaled_half makes two products of twice as many steps.
  const double steps = kind == GemmSplitKind::split ? static_cast<double>(ceil_div(problem.k, std::int64_t{kSplitStep}))
                                                    : static_cast<double>(problem.k) / kSplitStep / 3;
  const double rows = static_cast<double>(rows_of_a) * (problem.stride_a == 0 ? 1 : batch) +
                      static_cast<double>(rows_of_b) * (problem.stride_b == 0 ? 1 : batch);
  const double bytes = rows * static_cast<double>(problem.k) * (kind == GemmSplitKind::split ? 8 : 6);
  return kPrepareStart_us + bytes / kPrepareBytesPerMicrosecond +
         split_mma_products_microseconds(tiles * batch, steps, shape, card);
}

const SplitMmaShape& choose_gemm_split_mma(const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card) {
  return kSplitMmaShapes[fastest(problem, kind, card).shape];
}

const SplitMmaShape& split_mma_shape(std::int64_t tile_m, std::int64_t tile_n) {
  return *std::find_if(std::begin(kSplitMmaShapes), std::end(kSplitMmaShapes), [&](const SplitMmaShape& shape) {
    return shape.tile_m() == tile_m && shape.tile_n() == tile_n;
  });
}

std::vector<Tunable> split_mma_tunables(const SplitMmaShape& preferred, const char* meaning_m, const char* meaning_n) {
  Tunable tile_m{"tile_m", meaning_m, {}, preferred.tile_m()};
  Tunable tile_n{"tile_n", meaning_n, {}, preferred.tile_n(), "tile_m"};
  for (const SplitMmaShape& shape : kSplitMmaShapes) {
    tile_m.values.push_back(shape.tile_m());
    tile_n.values.push_back(shape.tile_n());
    tile_n.pairs.emplace_back(shape.tile_m(), shape.tile_n());
  }
  return {std::move(tile_m), std::move(tile_n)};
}

double gemm_split_mma_microseconds(const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card) {
  return fastest(problem, kind, card).us;
}

Verdict gemm_split_mma_may_pay(const Gemm& problem, const DeviceLimits& card) {
  if (card.compute_capability_major == 9 && card.compute_capability_minor == 0) {
    return Verdict::no("on compute capability 9.0 warp groups multiply faster");
  }
  if (card.compute_capability_major != 8 || card.compute_capability_minor != 0) {
    return Verdict::no(sentence("on compute capability ", card.compute_capability_major, ".",
                                card.compute_capability_minor,
                                " it was not measured, and fp16 need not be so much faster than float32 there"));
  }
  if (problem.m != 0 && problem.n != 0 && problem.k != 0 && problem.batch != 0) return Verdict::yes();
  return Verdict::no("there is nothing to multiply");
}

}  // namespace tessera::cuda
