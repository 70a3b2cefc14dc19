// Choice by a model of the time, whose constants were fitted to measurements on an H200.
#include "ops/gemm/gemm_thin.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/division.h"

namespace tessera::cuda {
namespace {

using mathematics::ceil_div;

// Fitted to 53 products with up to 8 rows or columns on an H200, 15 of them in float64, of each way to lie, aligned
// and not, k split by up to 16; each with every configuration that took less than 1.8 times as long as the best: off by
// 9 % in the root mean square. Of 53 products with up to 16 rows or columns that take longer than 4.4 us, what is
// chosen, here or in another variant, takes 2 % longer than the best; by the constants before, 6 %.

/// The least that was measured of a launch, on an H100.
constexpr double kLeast_us = 3;
/// Of a launch with its first loads, of each group that a multiprocessor computes, and of each of its sums, the power
/// of two from the few on: to add them up over lanes and to store them.
constexpr double kStart_us = 3.6;
constexpr double kGroup_us = 0.06;
constexpr double kGroupSum_us = 0.02;
/// From device memory, and from the second-level cache, which gives groups the small operand as well.
constexpr double kBytesPerMicrosecond = 4.5e6;
constexpr double kCachedBytesPerMicrosecond = 5.4e6;
/// Of a step of the groups that run on a multiprocessor at once: latency, mostly. And for each of a group's sums, along
/// rows and down over them.
constexpr double kStep_us = 0.205;
constexpr double kStepSumAlong_us = 0.011;
constexpr double kStepSumDown_us = 0.032;
/// How much longer a load takes of a large operand that the near part of the cache does not hold, and how large the
/// operand is from which on that is so.
constexpr double kFar = 3.2;
constexpr double kFarBytes = 10.7e6;
/// How much longer steps take where the large operand is read element by element.
constexpr double kUnaligned = 1.23;
constexpr double kGroups = 2;
/// To bring parts of k together: a second launch, each part, and each megabyte of parts and of C.
constexpr double kParts_us = 2.2;
constexpr double kPartsOfEach_us = 0.037;
constexpr double kPartsPerMegabyte_us = 0.4;
/// The most rows or columns for which it is taken, in float64 half as many: more gained nothing there. With 16,
/// register was ahead in nearly all of 50 shapes in float32.
constexpr std::int64_t kMostThatPay = 8;

constexpr std::int64_t kMostSplits = 64;
/// Beyond this, partial sums cost more memory and time than a split of k is worth.
constexpr double kLargestWorkspace = 256.0 * 1024 * 1024;

struct Choice {
  std::int64_t lanes = 32;
  std::int64_t split_k = 1;
  double us = std::numeric_limits<double>::infinity();
};

/// With 128 lanes, more rows of the small operand would not fit into shared memory or registers.
std::vector<std::int64_t> lanes_of(const Gemm& problem) {
  constexpr std::int64_t kMostOf128 = 4;
  const GemmThinWay way = gemm_thin_way(problem);
  if (way.along && way.few(problem) <= kMostOf128) return {8, 32, 128};
  return {8, 32};
}

/// More groups than steps would have nothing to do, and their sums need memory.
std::vector<std::int64_t> splits_of(const Gemm& problem) {
  std::vector<std::int64_t> splits{1};
  const std::int64_t products = std::min<std::int64_t>(problem.batch, 65535);
  const double bytes = static_cast<double>(problem.m) * static_cast<double>(problem.n) * static_cast<double>(products) *
                       static_cast<double>(size_bytes(problem.type));
  for (std::int64_t split = 2;
       split <= kMostSplits && split <= problem.k && bytes * static_cast<double>(split) <= kLargestWorkspace;
       split *= 2) {
    splits.push_back(split);
  }
  return splits;
}

/// Of what goes on at the same time, a little longer than the longest where others take nearly as long.
double longest(std::initializer_list<double> times) {
  double sum = 0;
  for (const double time : times) sum += std::pow(time, 4);
  return std::sqrt(std::sqrt(sum));
}

double microseconds(const Gemm& problem, const GemmThinShape& shape, std::int64_t split, const DeviceLimits& card) {
  const GemmThinWay way = gemm_thin_way(problem);
  const auto size = static_cast<double>(size_bytes(problem.type));
  const auto batch = static_cast<double>(problem.batch);
  const auto k = static_cast<double>(problem.k);
  const std::int64_t tiles = ceil_div(way.many(problem), shape.tile());
  const double groups = static_cast<double>(tiles) * static_cast<double>(split) * batch;
  const auto steps = static_cast<double>(ceil_div(ceil_div(problem.k, split), shape.depth()));

  const double c = static_cast<double>(problem.m) * static_cast<double>(problem.n) * batch * size;
  const double large = static_cast<double>(way.many(problem)) * k * batch * size;
  const double small = static_cast<double>(tiles) * static_cast<double>(way.few(problem)) * k * batch * size;
  const double memory_us = (large + c) / kBytesPerMicrosecond;
  const double cache_us = (large + small + c) / kCachedBytesPerMicrosecond;
  const double each = std::ceil(groups / static_cast<double>(card.multiprocessors));
  const bool is_aligned = (way.few_rows ? problem.ldb : problem.lda) % shape.chunk == 0;
  const double far = std::min(large / kFarBytes, 1.0);
  const double step_us = kStep_us * (1 + kFar * far) + (way.along ? kStepSumAlong_us : kStepSumDown_us) * shape.few;
  const double latency_us = std::ceil(each / kGroups) * steps * step_us * (is_aligned ? 1 : kUnaligned);
  double us = kStart_us + each * (kGroup_us + kGroupSum_us * shape.few) + longest({memory_us, cache_us, latency_us});
  if (split > 1) {
    const auto parts = static_cast<double>(split);
    us += kParts_us + parts * kPartsOfEach_us + (parts + 1) * c * 1e-6 * kPartsPerMegabyte_us;
  }
  return us;
}

Choice fastest(const Gemm& problem, const DeviceLimits& card) {
  Choice best;
  for (const std::int64_t lanes : lanes_of(problem)) {
    for (const std::int64_t split : splits_of(problem)) {
      const double us = microseconds(problem, gemm_thin_shape(problem, lanes), split, card);
      if (us < best.us) best = {lanes, split, us};
    }
  }
  return best;
}

}  // namespace

GemmThinShape gemm_thin_shape(const Gemm& problem, std::int64_t lanes) {
  const GemmThinWay way = gemm_thin_way(problem);
  const auto few = static_cast<unsigned>(std::clamp<std::int64_t>(way.few(problem), 1, kThinMost));
  return {way.along, static_cast<int>(std::bit_ceil(few)), static_cast<int>(lanes),
          static_cast<int>(16 / size_bytes(problem.type))};
}

std::vector<Tunable> gemm_thin_tunables(const Gemm& problem, const DeviceLimits& card) {
  const Choice choice = fastest(problem, card);
  return {{"lanes", "threads that read one stored row of the large operand", lanes_of(problem), choice.lanes},
          {"split_k", "groups over which k is split, each with a sum of its own", splits_of(problem), choice.split_k}};
}

double gemm_thin_microseconds(const Gemm& problem, const DeviceLimits& card) {
  return std::max(kLeast_us, fastest(problem, card).us);
}

backend::Verdict gemm_thin_may_pay(const Gemm& problem) {
  const std::int64_t few = gemm_thin_way(problem).few(problem);
  const std::int64_t most = problem.type == DataType::float64 ? kMostThatPay / 2 : kMostThatPay;
  if (few <= most) return backend::Verdict::yes();
  return backend::Verdict::no(
      backend::sentence("C has ", few, " rows or columns at least, and with more than ", most, " register is faster"));
}

}  // namespace tessera::cuda
