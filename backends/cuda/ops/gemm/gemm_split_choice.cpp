// Choice by a model of the time, whose constants were fitted to measurements on an H200.
#include "ops/gemm/gemm_split_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mathematics/division.h"

namespace tessera::cuda {
namespace {

using mathematics::ceil_div;

/// Clocks of the tensor cores that a block gets through in a microsecond, for each of kGemmSplitShapes.
constexpr double kClocksOfSplit[]{1080, 1210, 1300};
constexpr double kClocksOfHalf[]{900, 1050, 1120};
/// Of a launch with its first panels and the last tile's sums, likewise. The largest tile begins late behind the kernel
/// that prepares: at 2048 cubed both together take 116 us with it and 102 us with the next smaller one, each alone 76
/// us.
constexpr double kStart_us[]{3.5, 3.5, 14};
/// What the middle tile takes longer where a sum has few panels, behind which nothing hides how it begins and ends: set
/// later, on an H100, where 15 products with k up to 93 took 3 to 5 us longer than the model said.
constexpr double kShortSum_us = 4;
constexpr double kPanelsOfLongSum = 8;
/// To prepare: a launch with its barriers, and bytes read and written in a microsecond.
constexpr double kPrepareStart_us = 4.5;
constexpr double kPrepareBytesPerMicrosecond = 2.8e6;
/// Of each product of a batch but the first, to prepare it: on an H100 116 x 65 x 94 by 367 takes 77.8 us and
/// 12 x 24 x 146 by 56 23.4.
constexpr double kPrepareProduct_us = 0.12;
/// To write C, which few others multiply beside: on an H100 715 x 2046 x 117 takes 15.5 us and 1189 x 2972 x 10 22.2.
constexpr double kStoreBytesPerMicrosecond = 2.8e6;
/// What a byte of C takes longer where its rows begin at any element in place of every fourth: on an H100, 4000 x 4097
/// and 4096 with k of 2 and 32, and 2000 x 2049, 2050 and 2056 with k of 32 and 256.
constexpr double kUnalignedStore_us = 0.2e-6;

/// What a block holds of k before it reads it a second time.
constexpr std::int64_t kPartDepth = std::int64_t{kSplitHeld} * kSplitPrepareStep;
/// Steps of k that keep a block busy.
constexpr std::int64_t kLeastDepth = 2 * kSplitPrepareStep;

double microseconds(const Gemm& problem, GemmSplitKind kind, std::size_t number, const DeviceLimits& card) {
  const GemmSplitShape& shape = kGemmSplitShapes[number];
  const double clocks_per_us = (kind == GemmSplitKind::split ? kClocksOfSplit : kClocksOfHalf)[number];
  const auto a = static_cast<double>(tiling_of(shape).padded_rows_of_a(problem));
  const auto b = static_cast<double>(tiling_of(shape).padded_rows_of_b(problem));
  const auto batch = static_cast<double>(problem.batch);
  const double tiles = a / shape.tile_m() * b / shape.tile_n / shape.cluster() * batch;
  const double rounds = std::ceil(tiles / (static_cast<double>(card.multiprocessors) / shape.cluster()));
  const auto panels = static_cast<double>(ceil_div(problem.k, panel_depth(kind)));
  // An instruction of 64 x n x 16 takes n / 2 clocks.
  const double instructions = 4.0 * (kind == GemmSplitKind::split ? 3 : 2) * kSplitGroups * shape.blocks_m;
  const double products_us = rounds * panels * instructions * shape.tile_n / 2 / clocks_per_us;
  const double rows = a * (problem.stride_a == 0 ? 1 : batch) + b * (problem.stride_b == 0 ? 1 : batch);
  const double bytes = rows * static_cast<double>(problem.k) * (kind == GemmSplitKind::split ? 8 : 6);
  const double c = static_cast<double>(problem.m) * static_cast<double>(problem.n) * batch * sizeof(float);
  const double unaligned_us = problem.ldc % 4 == 0 ? 0 : c * kUnalignedStore_us;
  const double short_us = number == 1 ? kShortSum_us * std::max(0.0, 1 - panels / kPanelsOfLongSum) : 0;
  return kPrepareStart_us + (batch - 1) * kPrepareProduct_us + bytes / kPrepareBytesPerMicrosecond + kStart_us[number] +
         short_us + products_us + c / kStoreBytesPerMicrosecond + unaligned_us;
}

struct Estimate {
  const GemmSplitShape* shape;
  double us;
};

Estimate fastest(const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card) {
  Estimate best{nullptr, std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < std::size(kGemmSplitShapes); ++i) {
    const double us = microseconds(problem, kind, i, card);
    if (best.shape == nullptr || us < best.us) best = {&kGemmSplitShapes[i], us};
  }
  return best;
}

}  // namespace

std::int64_t prepare_parts(std::int64_t rows, std::int64_t k, const DeviceLimits& card) {
  if (card.compute_capability_major < 9) return 1;  // there are no clusters
  const std::int64_t blocks = rows / kSplitPrepareRows;
  std::int64_t parts = 1;
  const auto leaves_idle = [&] {
    return blocks * parts < std::int64_t{card.multiprocessors} && parts * kLeastDepth <= k;
  };
  while (parts < kSplitMostParts && (parts * kPartDepth < k || leaves_idle())) parts *= 2;
  return parts;
}

const GemmSplitShape& choose_gemm_split(const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card) {
  return *fastest(problem, kind, card).shape;
}

const GemmSplitShape& gemm_split_shape(std::int64_t tile_m, std::int64_t tile_n) {
  return *std::find_if(std::begin(kGemmSplitShapes), std::end(kGemmSplitShapes),
                       [&](const GemmSplitShape& shape) { return shape.tile_m() == tile_m && shape.tile_n == tile_n; });
}

std::vector<Tunable> gemm_split_tunables(const GemmSplitShape& preferred) {
  Tunable tile_m{"tile_m", "rows of C that one group computes", {128, 256}, preferred.tile_m()};
  Tunable tile_n{"tile_n", "columns of C that it computes", {64, 128}, preferred.tile_n, "tile_m"};
  for (const GemmSplitShape& shape : kGemmSplitShapes) tile_n.pairs.emplace_back(shape.tile_m(), shape.tile_n);
  return {std::move(tile_m), std::move(tile_n)};
}

double gemm_split_microseconds(const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card) {
  return fastest(problem, kind, card).us;
}

backend::Verdict gemm_split_may_pay(const Gemm& problem, const DeviceLimits& card) {
  if (card.compute_capability_major != 9 || card.compute_capability_minor != 0) {
    return backend::Verdict::no("it is for cards of compute capability 9.0");
  }
  if (problem.m != 0 && problem.n != 0 && problem.k != 0 && problem.batch != 0) return backend::Verdict::yes();
  return backend::Verdict::no("there is nothing to multiply");
}

}  // namespace tessera::cuda
