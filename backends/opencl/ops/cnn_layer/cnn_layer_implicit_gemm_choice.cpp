// Chooses the tile and the number of parts: for a GPU by a model of the time, fitted to measurements; for a processor
// by two simple rules.
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/joined_parts.h"

namespace tessera::opencl {

namespace {

/// How long a compute unit of a GPU takes: for each group, for each step however many groups it has, and for each step
/// of each group. Fitted to 33 layers, 5 of them with channels last, with every tile and 1 to 16 parts, float32, on an
/// H200: off by 16 % in the root mean square, and what it chooses takes 1.05 times as long as the best in the mean and
/// 1.26 times at most. No committed file has them. Other GPUs have other numbers, but the choice depends on their
/// ratios alone.
struct TileCost {
  std::int64_t tile_m;
  std::int64_t tile_n;
  double group_us;
  double alone_us;
  double step_us;
};
constexpr std::array<TileCost, 4> kFloat32{{{32, 32, 0.74, 0.0192, 0.0085},
                                            {32, 64, 1.4, 0.021, 0.0158},
                                            {64, 64, 3.25, 0.0403, 0.0259},
                                            {128, 64, 5.56, 0.0563, 0.0347}}};
/// Groups leave a unit one by one, and the next one takes the place: so much of the time is shared evenly, and the rest
/// is of whole groups.
constexpr double kShared = 0.74;
/// How much longer the steps of tiles of 32 channels take where channels lie beside each other.
constexpr double kSmallestBeside = 1.4;
/// float64 is taken to be slower by this with every tile, so that the tiles' order is the same.
constexpr double kFloat64Factor = 2;
/// The time of the launch that adds up parts, and the time of writing and reading one element of a part.
constexpr double kSecondLaunch_us = 4.7;
constexpr double kPartElement_us = 3.6e-6;
/// Where the last group of a block adds them up: the time until it knows, and of each element that it reads.
constexpr double kJoin_us = 2.4;
constexpr double kJoinedElement_us = 120e-6;
/// The shortest part, in steps: shorter ones take up to twice as long as the model says.
constexpr std::int64_t kShortestPart = 100;

/// Of `groups` groups of `steps` steps on so many compute units.
double microseconds(const TileCost& cost, const LocalTileShape& shape, const CnnLayer& problem, double groups,
                    double steps, double units) {
  const double factor = problem.type == DataType::float64 ? kFloat64Factor : 1;
  const bool is_smallest = cost.tile_m == kFloat32.front().tile_m, is_beside = problem.layout == Layout::nhwc;
  const double beside = is_beside && is_smallest ? kSmallestBeside : 1;
  const double whole = std::ceil(groups / units);
  const double each = kShared * std::max(groups / units, 1.0) + (1 - kShared) * whole;
  const auto depth = static_cast<double>(shape.depth);
  const double padded = std::ceil(steps / depth) * depth;
  return whole * cost.group_us + padded * factor * beside * (cost.alone_us + cost.step_us * each);
}

}  // namespace

ImplicitGemmTuning choose_implicit_gemm_local(const CnnLayer& problem, const DeviceFacts& facts,
                                              const std::vector<LocalTileShape>& shapes) {
  const double units = static_cast<double>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  const double factor = problem.type == DataType::float64 ? kFloat64Factor : 1;
  const auto batch = static_cast<double>(problem.batch);
  ImplicitGemmTuning best{shapes.back().tile_m, shapes.back().tile_n};
  double best_us = std::numeric_limits<double>::infinity();
  for (const TileCost& cost : kFloat32) {
    const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](const LocalTileShape& offered) {
      return offered.tile_m == cost.tile_m && offered.tile_n == cost.tile_n;
    });
    if (shape == shapes.end()) continue;
    const auto blocks_of = [&](const ProductPlan& plan) {
      return static_cast<std::uint64_t>(ceil_div(problem.output_channels, cost.tile_m)) *
             static_cast<std::uint64_t>(ceil_div(problem.batch * plan.image_columns, cost.tile_n));
    };
    for (const std::int64_t wanted : kImplicitGemmSplits) {
      ProductPlan plan(problem, wanted, 1, true);
      if (wanted > 1 && (plan.parts != wanted || plan.part_steps < kShortestPart)) break;
      const bool is_joined = !plan.is_part && elements_of_joined_parts(facts, blocks_of(plan), plan.parts,
                                                                       cost.tile_m * cost.tile_n, problem.type) != 0;
      if (!is_joined) plan = ProductPlan(problem, wanted, 1);
      const auto parts = static_cast<double>(plan.parts);
      const auto blocks = static_cast<double>(blocks_of(plan));
      double us = microseconds(cost, *shape, problem, blocks * parts, static_cast<double>(plan.part_steps), units);
      if (is_joined) {
        const double elements = factor * parts * static_cast<double>(std::min(cost.tile_m, problem.output_channels)) *
                                static_cast<double>(std::min(cost.tile_n, problem.batch * plan.image_columns));
        us += kJoin_us + elements * kJoinedElement_us * std::ceil(blocks / units);
      } else if (plan.is_part) {
        us += kSecondLaunch_us + kPartElement_us * factor * parts * batch * static_cast<double>(plan.sums_of_image);
      }
      if (us < best_us) {
        best_us = us;
        best = {cost.tile_m, cost.tile_n, wanted};
      }
    }
  }
  return best;
}

/// Takes the tile that computes the fewest channels that are not there, and splits into parts only where threads would
/// have no group of their own.
std::vector<std::int64_t> implicit_gemm_panels(const CnnLayer& problem, const DeviceFacts& facts) {
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(problem.type));
  if (problem.output_channels <= width) return {width, 2 * width, 3 * width};
  return {2 * width, 3 * width};
}

std::int64_t implicit_gemm_padded_outputs(const CnnLayer& problem, const std::vector<std::int64_t>& panels) {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t panel : panels) {
    fewest = std::min(fewest, ceil_div(problem.output_channels, panel) * panel);
  }
  return fewest;
}

ImplicitGemmTuning choose_implicit_gemm_panels(const CnnLayer& problem, const DeviceFacts& facts,
                                               const std::vector<std::int64_t>& tiles) {
  constexpr std::int64_t kShortestPartOfProcessor = 512;
  const std::int64_t padded = implicit_gemm_padded_outputs(problem, tiles);
  ImplicitGemmTuning best{.tile_m = tiles.front()};
  best.tile_m = *std::find_if(tiles.begin(), tiles.end(), [&](std::int64_t tile) {
    return ceil_div(problem.output_channels, tile) * tile == padded;
  });
  const double groups = static_cast<double>(ceil_div(problem.output_channels, best.tile_m)) *
                        static_cast<double>(problem.batch) * static_cast<double>(problem.output_height()) *
                        static_cast<double>(ceil_div(problem.output_width(), 4));
  for (const std::int64_t parts : kImplicitGemmSplits) {
    const ProductPlan plan(problem, parts, 1);
    if (parts > 1 && (plan.parts != parts || plan.part_steps < kShortestPartOfProcessor)) break;
    best.split_k = parts;
    if (groups * static_cast<double>(parts) >= 2 * static_cast<double>(facts.info.compute_units)) break;
  }
  return best;
}

}  // namespace tessera::opencl
