// Chooses the configuration with the least time, by a model whose constants were fitted to measurements.
//
// A multiprocessor computes its share of the groups, as many at a time as fit on it. A group takes the time of its
// products, at a rate that depends on how many groups there are to hide each other's waiting, plus a constant for its
// first stages, its sums and C. On an H200, over 64 shapes of 256 to 2048 in each direction and 21 others, what the
// model chooses takes 1 % (float64: 3 %) longer than the best configuration that was measured, at worst 11 % (23 %).
#include "ops/gemm/gemm_register_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "mathematics/division.h"

extern "C" const unsigned char tessera_cuda_gemm_register_float32_1024[];
extern "C" const unsigned char tessera_cuda_gemm_register_float32_4096[];
extern "C" const unsigned char tessera_cuda_gemm_register_float32_8192[];
extern "C" const unsigned char tessera_cuda_gemm_register_float32_16384[];
extern "C" const unsigned char tessera_cuda_gemm_register_float64_1024[];
extern "C" const unsigned char tessera_cuda_gemm_register_float64_2048[];
extern "C" const unsigned char tessera_cuda_gemm_register_float64_4096[];
extern "C" const unsigned char tessera_cuda_gemm_register_float64_8192[];

namespace tessera::cuda {
namespace {

/// Multiply-adds of a multiprocessor in a microsecond at best: 128 a clock at 1.98 GHz.
constexpr double kProductsPerMicrosecond = 128 * 1.98e3;

/// How fast a shape is.
struct Speed {
  std::array<double, 4> rate;  ///< share of the best, with 1, 2, ... groups on a multiprocessor
  double start_us;             ///< of a launch
  double group_us;             ///< of each group that a multiprocessor computes
};

/// What a split of k adds to the time.
struct SplitCost {
  double cluster_us;             ///< for the two groups of a cluster to exchange their sums
  double parts_us;               ///< for the second kernel
  double parts_us_per_megabyte;  ///< of partial sums and of C
};

constexpr std::array<Speed, 4> kFloat32Speeds{{{{0.507, 0.608, 0.608, 0.630}, 1.75, 0.431},
                                               {{0.645, 0.755}, 2.37, 1.61},
                                               {{0.674, 0.786}, 2.76, 2.01},
                                               {{0.454, 0.762}, 4.09, 2.57}}};
constexpr SplitCost kFloat32Split{1.63, 2.12, 0.130};
constexpr std::array<Speed, 4> kFloat64Speeds{
    {{{0.556}, 0.72, 1.88}, {{0.625, 0.765}, 1.30, 1.55}, {{0.871, 0.885}, 1.67, 2.46}, {{0.795, 0.930}, 0.50, 4.43}}};
constexpr SplitCost kFloat64Split{1.62, 3.19, 0.266};

double ceil_div(double a, double b) {
  return std::ceil(a / b);
}

double microseconds(const Gemm& problem, const GemmRegisterShape& shape, const Speed& speed, const SplitCost& cost,
                    double split, const DeviceLimits& card) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto batch = static_cast<double>(problem.batch);
  const double groups = ceil_div(m, shape.rows) * ceil_div(n, shape.columns) * split * batch;
  const double steps = ceil_div(ceil_div(static_cast<double>(problem.k), split), shape.depth) * shape.depth;
  const double alone_us = shape.elements() * steps / kProductsPerMicrosecond;

  // A multiprocessor's groups: those that run together with as many others as fit, and the rest.
  const double each = ceil_div(groups, card.multiprocessors);
  const double full = std::floor(each / shape.blocks) * shape.blocks;
  const double rest = each - full;
  double time = speed.start_us + each * speed.group_us + full * alone_us / speed.rate[shape.blocks - 1];
  if (rest > 0) time += rest * alone_us / speed.rate[static_cast<std::size_t>(rest) - 1];

  if (split == 2 && card.compute_capability_major >= 9) {
    time += cost.cluster_us;
  } else if (split > 1) {
    const double megabytes = (split + 1) * m * n * batch * static_cast<double>(size_bytes(problem.type)) * 1e-6;
    time += cost.parts_us + megabytes * cost.parts_us_per_megabyte;
  }
  return time;
}

}  // namespace

std::span<const GemmRegisterRow> gemm_register_rows(DataType type) {
  static const std::array<GemmRegisterRow, 4> float32{{
      {kFloat32Tile1024, {"gemm_register_float32_1024", tessera_cuda_gemm_register_float32_1024}},
      {kFloat32Tile4096, {"gemm_register_float32_4096", tessera_cuda_gemm_register_float32_4096}},
      {kFloat32Tile8192, {"gemm_register_float32_8192", tessera_cuda_gemm_register_float32_8192}},
      {kFloat32Tile16384, {"gemm_register_float32_16384", tessera_cuda_gemm_register_float32_16384}},
  }};
  static const std::array<GemmRegisterRow, 4> float64{{
      {kFloat64Tile1024, {"gemm_register_float64_1024", tessera_cuda_gemm_register_float64_1024}},
      {kFloat64Tile2048, {"gemm_register_float64_2048", tessera_cuda_gemm_register_float64_2048}},
      {kFloat64Tile4096, {"gemm_register_float64_4096", tessera_cuda_gemm_register_float64_4096}},
      {kFloat64Tile8192, {"gemm_register_float64_8192", tessera_cuda_gemm_register_float64_8192}},
  }};
  if (type == DataType::float64) return float64;
  return float32;
}

const GemmRegisterRow& gemm_register_row(DataType type, std::int64_t elements) {
  const std::span<const GemmRegisterRow> rows = gemm_register_rows(type);
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const GemmRegisterRow& row) { return row.shape.elements() == elements; });
}

GemmRegisterChoice choose_gemm_register(const Gemm& problem, const DeviceLimits& card, std::int64_t max_split,
                                        std::span<const std::int64_t> tiles) {
  const bool is_double = problem.type == DataType::float64;
  const std::span<const GemmRegisterRow> rows = gemm_register_rows(problem.type);
  const std::array<Speed, 4>& speeds = is_double ? kFloat64Speeds : kFloat32Speeds;
  GemmRegisterChoice best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_offered =
        tiles.empty() || std::find(tiles.begin(), tiles.end(), rows[i].shape.elements()) != tiles.end();
    if (!is_offered) continue;
    for (std::int64_t split = 1; split <= max_split; split *= 2) {
      const double time = microseconds(problem, rows[i].shape, speeds[i], is_double ? kFloat64Split : kFloat32Split,
                                       static_cast<double>(split), card);
      if (time < least) {
        least = time;
        best = {rows[i].shape.elements(), split};
      }
    }
  }
  return best;
}

std::size_t bytes_that_spread(const GemmRegisterShape& shape, std::int64_t groups, const DeviceLimits& card) {
  if (card.compute_capability_major < 9) return 0;  // no clusters, and no kernel overlaps another
  const std::int64_t units = card.multiprocessors;
  const std::int64_t each = std::max<std::int64_t>(1, mathematics::ceil_div(groups, units));
  if (each >= shape.blocks) return 0;
  const std::uint64_t too_many = card.multiprocessor_shared_bytes / static_cast<std::uint64_t>(each + 1);
  return std::min(too_many - kReservedSharedBytes + 128, card.shared_bytes);
}

}  // namespace tessera::cuda
