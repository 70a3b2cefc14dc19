// Choice by a model of the time, whose constants were fitted to measurements on an H200.
#include "ops/gemm/gemm_split_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
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
/// Products by single warps. Fitted to 13 problems from 256 cubed to 4096 cubed, flat and deep ones among them, on an
/// H200 (driver 580).
constexpr std::array<TimedShape, 3> kOfWarps{{{{0, 1, 2, 2, 2, 2, 4}, 4, 0.195, 0.022, 4},
                                              {{0, 2, 2, 2, 2, 1, 4}, 4, 0.29, 0.08, 5},
                                              {{0, 2, 2, 4, 4, 1, 3}, 2, 0.76, 0.28, 7}}};
/// Products by warp groups where the driver compiles them, and the smallest tile of single warps. Fitted to 1024 cubed,
/// 256 x 3072 x 768, and 4096 x 4096 with k of 512 and 4096 on the same (without a file). Tiles of 128 columns take 845
/// us for 4096 cubed and those of 64 x 64 805, because they leave room for one group where these leave room for three.
constexpr std::array<TimedShape, 3> kOfWarpGroups{{{{0, 1, 2, 2, 2, 2, 4}, 4, 0.195, 0.022, 6},
                                                   {{1, 4, 1, 1, 4, 2, 5}, 3, 0.187, 0.041, 5},
                                                   {{2, 8, 1, 1, 4, 2, 5}, 1, 0.2, 0, 6}}};

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

std::span<const TimedShape> shapes_of(bool has_warp_groups) {
  if (has_warp_groups) return kOfWarpGroups;
  return kOfWarps;
}
std::span<const TimedShape> shapes_of(const OpenclDevice& device) {
  return shapes_of(device.has_warp_groups());
}

const TimedShape& fastest(const Gemm& problem, const DeviceFacts& facts, bool has_warp_groups) {
  const std::span<const TimedShape> shapes = shapes_of(has_warp_groups);
  return *std::min_element(shapes.begin(), shapes.end(), [&](const TimedShape& left, const TimedShape& right) {
    return microseconds(problem, left, facts) < microseconds(problem, right, facts);
  });
}

}  // namespace

std::string GemmSplitShape::options() const {
  return backend::sentence(" -DWARP_GROUPS=", warp_groups, " -DWARPS_M=", warps_m, " -DWARPS_N=", warps_n,
                           " -DROW_BLOCKS=", row_blocks, " -DCOLUMN_BLOCKS=", column_blocks, " -DSTEPS=", steps,
                           " -DSTAGES=", stages);
}

std::string GemmSplitShape::prepare_options() const {
  return backend::sentence(" -DTILE_N=", tile_n(), " -DWARP_GROUPS=", warp_groups, " -DNVIDIA=1");
}

std::int64_t gemm_split_steps(const Gemm& problem) noexcept {
  return std::max<std::int64_t>(ceil_div(problem.k, kMostSteps * GemmSplitShape::kBlock), 1) * kMostSteps;
}

const GemmSplitShape& choose_gemm_split(const Gemm& problem, const DeviceFacts& facts, bool has_warp_groups) {
  return fastest(problem, facts, has_warp_groups).shape;
}

const GemmSplitShape& gemm_split_shape(const Tuning& tuning, const OpenclDevice& device) {
  const std::span<const TimedShape> shapes = shapes_of(device);
  return std::find_if(shapes.begin(), shapes.end(),
                      [&](const TimedShape& timed) {
                        return timed.shape.tile_m() == tuning.at("tile_m") &&
                               timed.shape.tile_n() == tuning.at("tile_n");
                      })
      ->shape;
}

std::vector<std::int64_t> gemm_split_panel_depths(const OpenclDevice& device) {
  std::vector<std::int64_t> depths;
  for (const TimedShape& timed : shapes_of(device)) depths.push_back(timed.shape.panel_depth());
  return depths;
}

std::vector<Tunable> gemm_split_tunables(const Gemm& problem, const OpenclDevice& device) {
  const GemmSplitShape& preferred = choose_gemm_split(problem, device.facts(), device.has_warp_groups());
  Tunable tile_m{"tile_m", "rows of C that one group computes", {}, preferred.tile_m()};
  Tunable tile_n{"tile_n", "columns of C that it computes", {64}, preferred.tile_n(), "tile_m"};
  for (const TimedShape& timed : shapes_of(device)) {
    const GemmSplitShape& shape = timed.shape;
    tile_m.values.push_back(shape.tile_m());
    if (shape.tile_n() != tile_n.values.back()) tile_n.values.push_back(shape.tile_n());
    tile_n.pairs.emplace_back(shape.tile_m(), shape.tile_n());
  }
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
  const double own = microseconds(problem, fastest(problem, facts, device.has_warp_groups()), facts);
  const double other = register_local_microseconds(problem, device);
  if (own * kAhead <= other) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("it is expected to take ", std::lround(own),
                                                " us, preparing A and B included, and register_local ",
                                                std::lround(other), " us"));
}

}  // namespace tessera::opencl
