// The shapes of gemm's thin variant, and the choice between them by a model of the time.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "backend/sentence.h"
#include "mathematics/gemm_thin_way.h"
#include "ops/gemm/gemm_split_k.h"
#include "ops/gemm/gemm_thin.h"
#include "ops/joined_parts.h"

namespace tessera::opencl {

namespace {

// Fitted to 28 products with up to 8 rows or columns, two of them in float64, each of the four ways to lie, on an
// H100, those configurations that took less than 2.5 times as long as the best: off by 15 % in the root mean square,
// and what is chosen takes 6 % longer than the best.

/// Of a launch, on the scale of register_local's model, which leaves out what the driver takes.
constexpr double kStart_us = 3.3;
/// Of each sum of a group, the power of two from the few on, where they run along rows and where down over them: to add
/// them up over lanes or slots and to store them, while the next group waits.
constexpr double kGroupSumAlong_us = 0.36, kGroupSumDown_us = 0.125;
/// From device memory, and from the second-level cache, which gives groups the small operand as well.
constexpr double kBytesPerMicrosecond = 4.25e6;
constexpr double kCachedBytesPerMicrosecond = 3.85e6;
/// Of a step of a group, and more for each of the few: latency, mostly; a compute unit's other groups hide a part of
/// it.
constexpr double kStepAlong_us = 0.72, kStepDown_us = 0.81;
constexpr double kFewAlong_us = 0.088, kFewDown_us = 0.051;
constexpr double kGroups = 1.4;
/// To bring parts of k together: a second launch, and each byte of parts and of C.
constexpr double kParts_us = 3.6;
constexpr double kPartByte_us = 0.15e-6;

/// The same where the last group of a block adds them up: as register_local's model has it (gemm_register_choice.cpp).
constexpr double kJoin_us = 1;
constexpr double kJoinedByte_us = 15e-6;

bool is_joined(const Gemm& problem, const GemmThinShape& shape, std::int64_t split, const DeviceFacts& facts) {
  return elements_of_joined_parts(facts, shape.groups(problem), split, shape.few * shape.tile(), problem.type) != 0;
}

double microseconds(const Gemm& problem, const GemmThinShape& shape, std::int64_t split, const DeviceFacts& facts) {
  const auto size = static_cast<double>(size_bytes(problem.type));
  const auto batch = static_cast<double>(problem.batch);
  const auto k = static_cast<double>(problem.k);
  const auto tiles = static_cast<double>(ceil_div(shape.many_of(problem), shape.tile()));
  const auto steps = static_cast<double>(ceil_div(ceil_div(problem.k, split), shape.depth()));
  const auto units = static_cast<double>(std::max<std::uint64_t>(facts.info.compute_units, 1));

  const double c = static_cast<double>(problem.m) * static_cast<double>(problem.n) * batch * size;
  const double large = static_cast<double>(shape.many_of(problem)) * k * batch * size;
  const double small = tiles * static_cast<double>(shape.few_of(problem)) * k * batch * size;
  const double each = std::ceil(tiles * static_cast<double>(split) * batch / units);
  const auto few = static_cast<double>(shape.few);
  const double step_us = shape.along ? kStepAlong_us + kFewAlong_us * few : kStepDown_us + kFewDown_us * few;
  const double latency_us = (1 + (each - 1) / kGroups) * steps * step_us;
  double us =
      kStart_us + (each - 1) * few * (shape.along ? kGroupSumAlong_us : kGroupSumDown_us) +
      std::max({(large + c) / kBytesPerMicrosecond, (large + small + c) / kCachedBytesPerMicrosecond, latency_us});
  if (is_joined(problem, shape, split, facts)) {
    us += kJoin_us + kJoinedByte_us * static_cast<double>(split) * size *
                         static_cast<double>(shape.few_of(problem) * std::min(shape.tile(), shape.many_of(problem))) *
                         std::ceil(tiles * batch / units);
  } else if (split > 1) {
    us += kParts_us + static_cast<double>(split + 1) * c * kPartByte_us;
  }
  return us;
}

}  // namespace

GemmThinShape::GemmThinShape(const Gemm& problem, std::int64_t lanes_of_row, const DeviceFacts& facts)
    : few_rows(mathematics::gemm_thin_way(problem).few_rows),
      along(mathematics::gemm_thin_way(problem).along),
      lanes(lanes_of_row),
      chunk(static_cast<std::int64_t>(16 / size_bytes(problem.type))),
      is_gpu(facts.info.kind == DeviceKind::gpu),
      shuffles(facts.is_nvidia) {
  const auto exact = static_cast<std::uint64_t>(std::clamp<std::int64_t>(few_of(problem), 1, kThinMost));
  if (is_gpu) {
    few = static_cast<std::int64_t>(std::bit_ceil(exact));
  } else {
    few = exact <= 4 ? 4 : kThinMost;
  }
}

std::int64_t GemmThinShape::loads() const {
  // 8 on their way at once, or 4 where sums take many registers; and 16 KiB of the small operand at most.
  constexpr std::int64_t kSmallBytes = 16 * 1024;
  if (!is_gpu) return 1;
  const std::int64_t registers = along ? few * rows() * 4 / chunk : few * 4;
  std::int64_t count = (registers < 64 ? 8 : 4) / rows();
  while (count > 1 && (along ? lanes * chunk : slots()) * count * few * 16 / chunk > kSmallBytes) count /= 2;
  return count;
}

std::uint64_t GemmThinShape::local_bytes() const {
  std::int64_t shares = along ? lanes : slots();
  std::int64_t round = std::min<std::int64_t>(few, 2);
  if (shuffles) {
    shares = along ? std::max<std::int64_t>(lanes / 32, 1) : kThinItems / 32;
    round = along ? few : std::min<std::int64_t>(few, 4);
  }
  return static_cast<std::uint64_t>((few * depth() + shares * round * tile()) * 16 / chunk) + kJointBytes;
}

std::uint64_t GemmThinShape::groups(const Gemm& problem) const {
  return few_rows ? gemm_blocks(problem, kThinMost, tile()) : gemm_blocks(problem, tile(), kThinMost);
}

std::string GemmThinShape::options() const {
  return backend::sentence(" -DFEW_ROWS=", few_rows ? 1 : 0, " -DALONG=", along ? 1 : 0, " -DFEW=", few,
                           " -DLANES=", lanes, " -DROWS=", rows(), " -DLOADS=", loads(),
                           " -DNVIDIA=", shuffles ? 1 : 0);
}

std::vector<std::int64_t> gemm_thin_lanes(const Gemm& problem, const DeviceFacts& facts) {
  const GemmThinShape shape(problem, 8, facts);
  if (!shape.is_gpu) return {shape.lanes};
  if (shape.along) return {8, 32, 128};
  return {8, 32};
}

GemmThinChoice choose_gemm_thin(const Gemm& problem, const DeviceFacts& facts) {
  GemmThinChoice best{.microseconds = std::numeric_limits<double>::infinity()};
  for (const std::int64_t lanes : gemm_thin_lanes(problem, facts)) {
    const GemmThinShape shape(problem, lanes, facts);
    for (const std::int64_t split : kGemmSplits) {
      if (split > 1 && problem.k / split < shape.depth()) break;
      const int launches = split > 1 && !is_joined(problem, shape, split, facts) ? 2 : 1;
      const double us = gemm_with_launches_us(microseconds(problem, shape, split, facts), launches);
      if (us < best.microseconds) best = {lanes, split, us};
    }
  }
  return best;
}

}  // namespace tessera::opencl
