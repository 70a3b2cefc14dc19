// kernel_regression, exact_bytes_tensor: whole distances from products of bytes by NVIDIA's tensor cores. The launches
// are in kernel_regression_tiles.cpp.
#include <algorithm>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_slab.h"
#include "ops/kernel_regression/kernel_regression_expected.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// A tile of warps with 16 or 32 queries each, and how many groups share a multiprocessor.
struct TensorTile {
  std::int64_t warps;
  std::int64_t queries_of_warp;
  std::int64_t stages;
  std::int64_t groups;

  [[nodiscard]] std::int64_t queries() const noexcept { return warps * queries_of_warp; }
  [[nodiscard]] RegressionTile tile() const noexcept {
    constexpr std::int64_t kRows = 128;
    constexpr std::int64_t kWorkRows = 4;  // of a lane: 32 of them have a warp's rows
    constexpr std::int64_t kStepWords = 8;
    return {queries(), kRows, queries_of_warp, kWorkRows, 4, kStepWords, 4, stages};
  }
};

// A warp of 32 queries reads the fewest bytes from local memory for a product, and leaves registers for two groups.
constexpr TensorTile kTensorTiles[]{{4, 32, 4, 2}, {4, 16, 4, 4}, {2, 16, 4, 8}};

/// How long the busiest multiprocessor computes, in queries of a block of training rows: groups come in waves, and a
/// multiprocessor shares its time among those that it holds.
std::int64_t time_of(const TensorTile& tile, const KernelRegression& problem, const DeviceFacts& facts) {
  const auto units = static_cast<std::int64_t>(std::max<std::uint64_t>(facts.info.compute_units, 1));
  const std::int64_t blocks = ceil_div(problem.training_rows, mathematics::regression_block_rows(problem));
  const std::int64_t groups = std::max<std::int64_t>(ceil_div(problem.queries, tile.queries()) * blocks, 1);
  const std::int64_t of_wave = std::min(ceil_div<std::int64_t>(groups, units), tile.groups);
  return ceil_div<std::int64_t>(groups, units * of_wave) * of_wave * tile.queries();
}

/// The tile that takes the shortest time first, of equal ones the largest; and the smallest last.
RegressionTiles tensor_tiles(const KernelRegression& problem, const DeviceFacts& facts) {
  const TensorTile* best = kTensorTiles;
  for (const TensorTile& tile : kTensorTiles) {
    if (time_of(tile, problem, facts) < time_of(*best, problem, facts)) best = &tile;
  }
  RegressionTiles tiles{best->tile()};
  for (const TensorTile& tile : kTensorTiles) {
    if (&tile != best) tiles.push_back(tile.tile());
  }
  return tiles;
}

Verdict check(const KernelRegression& problem, const backend::Device& device) {
  if (Verdict verdict = check_regression_words(problem, "exact_bytes_tensor"); !verdict) return verdict;
  const DeviceFacts& facts = native(device).facts();
  if (!facts.has_tensor_cores) {
    return Verdict::no(
        sentence("'", facts.info.name,
                 "' has no tensor cores of NVIDIA's sm_80 or newer, by which exact_bytes_tensor multiplies"));
  }
  return check_regression_tiles(problem, facts, tensor_tiles(problem, facts));
}

}  // namespace

std::int64_t regression_time_of_tensor(const KernelRegression& problem, const DeviceFacts& facts) {
  std::int64_t least = time_of(kTensorTiles[0], problem, facts);
  for (const TensorTile& tile : kTensorTiles) least = std::min(least, time_of(tile, problem, facts));
  return least;
}

backend::Variant<KernelRegression> kernel_regression_exact_bytes_tensor() {
  return {.name = "exact_bytes_tensor",
          .summary = "whole distances from products of bytes by NVIDIA's tensor cores; four lanes keep a query's sums",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                const DeviceFacts& facts = native(device).facts();
                return regression_tile_tunables(problem, facts, tensor_tiles(problem, facts));
              },
          .make =
              [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
                const OpenclDevice& opencl = native(device);
                return make_regression_tiles(problem, opencl, tuning, tensor_tiles(problem, opencl.facts()));
              },
          .pays =
              [](const KernelRegression& problem, const backend::Device& device) {
                return regression_is_fastest("exact_bytes_tensor", problem, device);
              }};
}

}  // namespace tessera::opencl
