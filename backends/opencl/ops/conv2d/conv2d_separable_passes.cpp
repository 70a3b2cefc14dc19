// conv2d, separable_passes: for filters of every size that are a column times a row; a pass along the rows and one down
// the columns, with local memory between. See conv2d_separable_passes.cl.
#include <algorithm>
#include <array>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/conv2d_tiles.h"
#include "opencl_embedded.h"
#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;
using Passes = mathematics::Conv2dPasses;

constexpr std::array<std::int64_t, 2> kStrips{64, 128};
/// Groups of 128 that a multiprocessor of NVIDIA's is taken to run at a time. OpenCL does not tell.
constexpr std::int64_t kGroupsPerUnit = 5;

Verdict check(const Conv2d& problem, const backend::Device& device) {
  const std::int64_t strip = kStrips.front();
  if (const Verdict fits = check_group(problem, device, strip, Passes::bytes(problem, strip)); !fits) return fits;
  const Verdict groups = check_groups("conv2d", conv2d_blocks(problem, Passes::kRows.front(), strip));
  return groups ? mathematics::check_rank_one(problem) : groups;
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  const DeviceInfo& info = native(device).facts().info;
  Tunable strip{.name = "strip", .meaning = "columns that a work-group marches down", .values = {}};
  for (const std::int64_t value : kStrips) {
    if (!check_group(problem, device, value, Passes::bytes(problem, value))) continue;
    strip.values.push_back(value);
    if (value == kStrips.front() || problem.output_width() > kStrips.front()) strip.preferred = value;
  }
  Tunable rows{.name = "rows_per_run", .meaning = "rows of the output that one work-group computes", .values = {}};
  rows.values.assign(Passes::kRows.begin(), Passes::kRows.end());
  const std::int64_t at_once = static_cast<std::int64_t>(info.compute_units) * kGroupsPerUnit * 128 / strip.preferred;
  rows.preferred = Passes::preferred(problem, strip.preferred, at_once);
  return {strip, rows};
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const std::int64_t strip = tuning.at("strip");
  const Conv2dNumbers numbers = conv2d_numbers(problem);
  auto kernel = native(device).kernel(
      conv2d_program("conv2d_separable_passes", embedded::conv2d_separable_passes, problem,
                     sentence(numbers.option, " -DSTRIP=", strip,
                              " -DFETCHED=", mathematics::conv2d_fetched(strip, problem.filter_width),
                              " -DROW_TAIL=", mathematics::conv2d_tail(problem.filter_width),
                              " -DCOLUMN_TAIL=", mathematics::conv2d_tail(problem.filter_height)),
                     numbers.sums));
  kernel->set(kConv2dWeights + 1, static_cast<std::size_t>(Passes::bytes(problem, strip)), nullptr);
  const std::vector<double> weights = mathematics::conv2d_passes_weights(*mathematics::rank_one_factors(problem));
  return bind_conv2d_weights(conv2d_launch(std::move(kernel), problem, {1, strip, tuning.at("rows_per_run"), strip}),
                             conv2d_weight_bits(problem, weights, numbers.sums), device);
}

/// By the shortest times on two quiet cores of an EPYC, 512 x 768 pixels, without a committed file: on PoCL 3.1 0.33 to
/// 0.88 of what the best other takes with rows and columns of 9 and 18; on Intel's runtime, which makes vectors of
/// naive's work-items, 1.2 to 3.4 times naive's. With 9 x 9 weights passes are ahead on both.
backend::Verdict pays(const Conv2d& problem, const backend::Device& device) {
  constexpr std::int64_t kFewestWeights = 64, kFewestOfPocl = 9;
  return pays_in_tiles(problem, device, native(device).facts().is_pocl ? kFewestOfPocl : kFewestWeights);
}

}  // namespace

backend::Variant<Conv2d> conv2d_separable_passes() {
  return {.name = "separable_passes",
          .summary =
              "along the rows into local memory and down the columns from there; filters that are a column times "
              "a row",
          .check = check,
          .tunables = tunables,
          .make = make,
          .error_factor_of = [](const Conv2d& problem,
                                const backend::Device&) { return mathematics::separable_error_factor(problem); },
          .pays = pays};
}

}  // namespace tessera::opencl
