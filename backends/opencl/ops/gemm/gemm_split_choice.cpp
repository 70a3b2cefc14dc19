// Choice by a model of the time, whose constants were fitted to measurements on an H200.
#include "ops/gemm/gemm_split_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "backend/sentence.h"
#include "ops/gemm/gemm_register_local.h"

namespace tessera::opencl {

namespace {

/// The largest number of steps that a shape takes at once.
constexpr std::int64_t kMostSteps = 2;

/// A shape and how many groups of it a compute unit holds; how long one takes there for a step of k when it is alone,
/// and each further one; and to begin and to store its tile.
struct TimedShape {
  GemmSplitShape shape;
  std::int64_t groups;
  double alone_us;
  double more_us;
  double each_us;
};
/// Fitted to 13 problems from 256 cubed to 4096 cubed, flat and deep ones among them, on an H200 (driver 580).
constexpr std::array<TimedShape, 3> kShapes{{{{1, 2, 2, 2, 2, 4}, 4, 0.195, 0.022, 4},
                                             {{2, 2, 2, 2, 1, 4}, 4, 0.29, 0.08, 5},
                                             {{2, 2, 4, 4, 1, 3}, 2, 0.76, 0.28, 7}}};

/// To prepare: a launch, and bytes read and written in a microsecond.
constexpr double kPrepareStart_us = 4;
constexpr double kPrepareBytesPerMicrosecond = 2.7e6;
/// It must be ahead by so much, since models are off by some percent.
constexpr double kAhead = 1.1;

/// Of so many groups at once on a compute unit.
double group_us(const TimedShape& timed, double steps, std::int64_t groups) {
  if (groups == 0) return 0;
  return steps * (timed.alone_us + timed.more_us * static_cast<double>(groups - 1)) + timed.each_us;
}

double microseconds(const Gemm& problem, const TimedShape& timed, const DeviceFacts& facts) {
  const std::uint64_t units = std::max<std::uint64_t>(facts.info.compute_units, 1);
  const auto of_unit =
      static_cast<std::int64_t>(ceil_div(gemm_blocks(problem, timed.shape.tile_m(), timed.shape.tile_n()), units));
  const auto steps = static_cast<double>(gemm_split_steps(problem));
  const auto batch = static_cast<double>(problem.batch);
  const double rows = static_cast<double>(problem.m) * (problem.stride_a == 0 ? 1 : batch) +
                      static_cast<double>(problem.n) * (problem.stride_b == 0 ? 1 : batch);
  constexpr double kBytes = 8;  // of an element, read and written
  return kPrepareStart_us + rows * static_cast<double>(problem.k) * kBytes / kPrepareBytesPerMicrosecond +
         static_cast<double>(of_unit / timed.groups) * group_us(timed, steps, timed.groups) +
         group_us(timed, steps, of_unit % timed.groups);
}

const TimedShape& fastest(const Gemm& problem, const DeviceFacts& facts) {
  return *std::min_element(kShapes.begin(), kShapes.end(), [&](const TimedShape& left, const TimedShape& right) {
    return microseconds(problem, left, facts) < microseconds(problem, right, facts);
  });
}

}  // namespace

std::string GemmSplitShape::options() const {
  return backend::sentence(" -DWARPS_M=", warps_m, " -DWARPS_N=", warps_n, " -DROW_BLOCKS=", row_blocks,
                           " -DCOLUMN_BLOCKS=", column_blocks, " -DSTEPS=", steps, " -DSTAGES=", stages);
}

std::int64_t gemm_split_steps(const Gemm& problem) noexcept {
  return ceil_div(problem.k, kMostSteps * GemmSplitShape::kBlock) * kMostSteps;
}

const GemmSplitShape& choose_gemm_split(const Gemm& problem, const DeviceFacts& facts) {
  return fastest(problem, facts).shape;
}

const GemmSplitShape& gemm_split_shape(const Tuning& tuning) {
  return std::find_if(kShapes.begin(), kShapes.end(),
                      [&](const TimedShape& timed) {
                        return timed.shape.tile_m() == tuning.at("tile_m") &&
                               timed.shape.tile_n() == tuning.at("tile_n");
                      })
      ->shape;
}

std::vector<Tunable> gemm_split_tunables(const GemmSplitShape& preferred) {
  Tunable tile_m{"tile_m", "rows of C that one group computes", {32, 64, 128}, preferred.tile_m()};
  Tunable tile_n{"tile_n", "columns of C that it computes", {64, 128}, preferred.tile_n(), "tile_m"};
  for (const TimedShape& timed : kShapes) tile_n.pairs.emplace_back(timed.shape.tile_m(), timed.shape.tile_n());
  return {std::move(tile_m), std::move(tile_n)};
}

backend::Verdict gemm_split_pays(const Gemm& problem, const OpenclDevice& device) {
  const DeviceFacts& facts = device.facts();
  if (facts.info.instruction_set != "sm_90") {
    return backend::Verdict::no(backend::sentence("it was seen to be faster on sm_90 alone, and '", facts.info.name,
                                                  "' is ", facts.info.instruction_set));
  }
  if (problem.m == 0 || problem.n == 0 || problem.k == 0 || problem.batch == 0) {
    return backend::Verdict::no("there is nothing to multiply");
  }
  const double own = microseconds(problem, fastest(problem, facts), facts);
  const double other = register_local_microseconds(problem, device);
  if (own * kAhead <= other) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("it is expected to take ", std::lround(own),
                                                " us, preparing A and B included, and register_local ",
                                                std::lround(other), " us"));
}

}  // namespace tessera::opencl
