// Checks, rows of a run, weights, and the launch of a work-item alone.
#include "ops/conv2d/conv2d_march.h"

#include <utility>

#include "backend/sentence.h"
#include "mathematics/conv2d_filter.h"
#include "opencl_known_faults.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

constexpr std::array<std::int64_t, 5> kRowsPerRun{8, 16, 32, 64, 128};
/// Short runs leave no thread idle at the end, and the rows that two of them share are still in the second-level cache.
constexpr std::int64_t kRowsOnProcessors = 16;
/// Columns of the narrowest strip.
constexpr std::int64_t kNarrowest = 8;

/// Rows of a run on a GPU: the longest runs that still give every compute unit enough groups, because a run reads the
/// filter's rows above and below it again. Where a row has few products, runs are shorter: more groups hide the latency
/// better. The figures are what was fastest for int32, 4096 x 4096 on an H200 (driver 580).
std::int64_t rows_on_gpu(const Conv2d& problem, std::uint64_t compute_units, std::int64_t strip, bool is_separable) {
  constexpr std::uint64_t kGroupsPerUnit = 15;
  std::int64_t most = kRowsPerRun.back();
  if (!is_separable && problem.filter_height == 3) most = 8;
  if (!is_separable && problem.filter_height == 5) most = 16;
  std::int64_t rows = kRowsPerRun.front();
  for (const std::int64_t candidate : kRowsPerRun) {
    if (candidate <= most && conv2d_blocks(problem, candidate, strip) >= kGroupsPerUnit * compute_units) {
      rows = candidate;
    }
  }
  return rows;
}

}  // namespace

Verdict check_march(const Conv2d& problem, const backend::Device& device, bool is_separable) {
  const char* const variant = is_separable ? "separable" : "marching";
  if (const Verdict known = check_known_faults("conv2d", variant, native(device).facts()); !known) return known;
  if (const Verdict size = mathematics::check_square_3_5_7(problem); !size) return size;
  const Verdict groups = check_groups("conv2d", conv2d_blocks(problem, kRowsPerRun.front(), kNarrowest));
  return groups && is_separable ? mathematics::check_rank_one(problem) : groups;
}

bool is_gpu(const backend::Device& device) {
  return native(device).facts().info.kind == DeviceKind::gpu;
}

Tunable rows_per_run(const Conv2d& problem, const backend::Device& device, std::int64_t columns, bool is_separable) {
  Tunable rows{.name = "rows_per_run", .meaning = "rows of the output that one work-item computes", .values = {}};
  rows.values.assign(kRowsPerRun.begin(), kRowsPerRun.end());
  rows.preferred = is_gpu(device)
                       ? rows_on_gpu(problem, native(device).facts().info.compute_units, columns, is_separable)
                       : kRowsOnProcessors;
  return rows;
}

MarchWeights MarchWeights::of(const Conv2d& problem, bool is_separable) {
  if (!is_separable) return {problem.filter, false};
  const auto factors = *mathematics::rank_one_factors(problem);
  std::vector<double> weights = factors.column;
  weights.insert(weights.end(), factors.row.begin(), factors.row.end());
  return {std::move(weights), true};
}

std::string MarchWeights::options(const Conv2d& problem) const {
  return sentence(" -DSIZE=", problem.filter_height, " -DSEPARABLE=", is_separable ? 1 : 0);
}

std::unique_ptr<backend::Kernel> make_march_alone(const MarchAlone& march, const Conv2d& problem,
                                                  const OpenclDevice& device, const MarchWeights& weights,
                                                  std::int64_t strip, std::int64_t rows) {
  auto kernel = device.kernel(
      conv2d_program(march.name, march.text, problem, weights.options(problem) + march.options, march.sums));
  std::vector<std::uint32_t> bits = conv2d_weight_bits(problem, weights.values, march.sums);
  bits.resize(static_cast<std::size_t>(problem.filter_height * problem.filter_width));
  kernel->set(kConv2dWeights, bits.size() * sizeof(std::uint32_t), bits.data());
  return std::make_unique<OpenclKernel>(conv2d_launch(std::move(kernel), problem, {1, 1, rows, strip}));
}

}  // namespace tessera::opencl
