// kernel_regression, exact_bytes_wgmma: whole distances from products of bytes by the warp groups of Hopper. The
// launches are in kernel_regression_tiles.cpp.
#include <algorithm>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_slab.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

constexpr std::int64_t kQueries = 128, kStepBytes = 32;
/// Packed queries lie in registers, of which a work-item has 255: so many bytes of each leave room for all else.
constexpr std::int64_t kMostColumns = 25 * kStepBytes;

/// One group fills a multiprocessor's registers, and its stages NVIDIA's local memory.
RegressionTiles tiles() {
  constexpr std::int64_t kRows = 128;
  constexpr std::int64_t kWorkQueries = 2;
  constexpr std::int64_t kWorkRows = 32;
  constexpr std::int64_t kStages = 5;
  RegressionTile tile{kQueries, kRows, kWorkQueries, kWorkRows, 4, kStepBytes / 4, 4, kStages};
  tile.is_of_warp_groups = true;
  return {tile};
}

Verdict check(const KernelRegression& problem, const backend::Device& opened) {
  if (Verdict verdict = check_regression_words(problem, "exact_bytes_wgmma"); !verdict) return verdict;
  if (problem.columns > kMostColumns) {
    return Verdict::no(sentence("columns of kernel_regression is ", problem.columns, ", but up to ", kMostColumns,
                                " exact_bytes_wgmma keeps queries in registers"));
  }
  const OpenclDevice& device = native(opened);
  const DeviceFacts& facts = device.facts();
  if (!facts.is_hopper) {
    return Verdict::no(sentence("'", facts.info.name,
                                "' has no warp groups of NVIDIA's sm_90, by which exact_bytes_wgmma multiplies"));
  }
  if (Verdict verdict = check_regression_tiles(problem, facts, tiles()); !verdict) return verdict;
  if (device.has_warp_groups()) return Verdict::yes();
  return Verdict::no(sentence("the driver of '", facts.info.name,
                              "' does not compile products by warp groups, by which exact_bytes_wgmma multiplies"));
}

/// Groups come one at a time to a multiprocessor.
Verdict pays(const KernelRegression& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  const auto units = static_cast<std::int64_t>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  const std::int64_t blocks = ceil_div(problem.training_rows, mathematics::regression_block_rows(problem));
  const std::int64_t waves = ceil_div<std::int64_t>(ceil_div(problem.queries, kQueries) * blocks, units);
  // In percent of what exact_bytes_tensor takes where both fill an H100.
  constexpr std::int64_t kTime = 85;
  const std::int64_t others = regression_time_of_tensor(problem, facts);
  if (waves * kQueries * kTime <= others * 100) return Verdict::yes();
  return Verdict::no(sentence("kernel_regression has ", problem.queries, " queries of ", problem.training_rows,
                              " training rows, for which groups of ", kQueries, " queries leave multiprocessors idle"));
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_exact_bytes_wgmma() {
  return {.name = "exact_bytes_wgmma",
          .summary = "whole distances from products of bytes by Hopper's warp groups, queries in registers",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                return regression_tile_tunables(problem, native(device).facts(), tiles());
              },
          .make = [](const KernelRegression& problem, backend::Device& device,
                     const Tuning& tuning) { return make_regression_tiles(problem, native(device), tuning, tiles()); },
          .pays = pays};
}

}  // namespace tessera::opencl
