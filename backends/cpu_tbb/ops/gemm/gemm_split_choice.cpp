// Choice by a model of the time, whose constants were fitted to measurements.
#include "ops/gemm/gemm_split_choice.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "backend/sentence.h"
#include "cpu_tbb_device.h"
#include "mathematics/division.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_split_kernel.h"

namespace tessera::cpu_tbb {

using mathematics::ceil_div;
using mathematics::round_up;

namespace {

/// A step of B takes 768 KiB of a second-level cache of 2 MiB.
constexpr std::int64_t kMostColumns = 512;

/// Picoseconds of one thread: for a product of elements, and for each time that an element of A, B and C passes. Fitted
/// to 15 shapes from 32 to 1024 on one thread of a busy Xeon (Sapphire Rapids), which they meet within
/// an eighth; no committed file has them.
struct Cost {
  double product;
  double a;
  double b;
  double c;
};
constexpr Cost kCostOfSplit{6.1, 350, 450, 400};
constexpr Cost kCostOfRegister{11, 100, 150, 50};
/// It must be ahead by so much, since estimates are off by some percent.
constexpr double kAhead = 1.05;

/// m, n and k as they are computed, and how often A and B are read.
struct Passes {
  std::int64_t m, n, k, of_a, of_b;
};
double nanoseconds(const Cost& cost, const Passes& passes) {
  const auto m = static_cast<double>(passes.m), n = static_cast<double>(passes.n), k = static_cast<double>(passes.k);
  const double read =
      cost.a * m * k * static_cast<double>(passes.of_a) + cost.b * n * k * static_cast<double>(passes.of_b);
  return (cost.product * m * n * k + read + cost.c * m * n) / 1000;
}

}  // namespace

Blocks split_blocks(const Gemm& problem, const Team& team) {
  Blocks blocks = register_blocks(problem.m, problem.n, problem.k, {kSplitTile, kSplitTile}, kMostColumns, team);
  if (blocks.rows == 0) return blocks;
  blocks.rows = round_up(blocks.rows, kSplitTile);
  blocks.down = ceil_div(problem.m, blocks.rows);
  return blocks;
}

double split_error_factor(const Gemm& problem, const backend::Device&) {
  const std::int64_t k = mathematics::gemm_as_computed(problem).k;
  if (k == 0) return 1;
  const auto steps = static_cast<double>(ceil_div(k, kSplitStep));
  const double in_step = 1.02 * static_cast<double>(std::min<std::int64_t>(ceil_div(k, 2), kSplitStep / 2) + 1);
  const double tiny = std::max(16.0, static_cast<double>(k) / 4);
  constexpr double kOfProduct = 2;
  constexpr double kSecondOrder = 1 + 0x1p-8;
  return std::max(1.0, kSecondOrder * (kOfProduct + in_step + 6 * steps + tiny) / static_cast<double>(k));
}

backend::Verdict split_pays(const Gemm& problem, const backend::Device& device) {
  using backend::Verdict;
  const std::int64_t k = mathematics::gemm_as_computed(problem).k;
  if (problem.m == 0 || problem.n == 0 || k == 0) return Verdict::no("there is nothing to multiply");
  const Team team = native(device).team();
  const Blocks blocks = split_blocks(problem, shares_products(problem, team.threads) ? Team() : team);
  Passes passes{problem.m, problem.n, k, blocks.across, 0};
  passes.of_b = std::max(std::min<std::int64_t>(blocks.down, team.threads), ceil_div(problem.m, kSplitMostRows));
  const double other = nanoseconds(kCostOfRegister, passes);
  passes.m = round_up(problem.m, kSplitTile);
  passes.n = round_up(problem.n, kSplitTile);
  passes.k = round_up(k, kSplitStep);
  const double own = nanoseconds(kCostOfSplit, passes);
  if (own * kAhead <= other) return Verdict::yes();
  return Verdict::no(backend::sentence("it is expected to take ", std::lround(own),
                                       " ns of one thread, splitting A and B included, and register ",
                                       std::lround(other), " ns"));
}

}  // namespace tessera::cpu_tbb
