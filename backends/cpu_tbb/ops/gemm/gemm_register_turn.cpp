// The choice between C and its transpose, by a model of the time whose constants were fitted to measurements on one
// Zen 5 core with AVX-512; no committed file has them.
//
// A transposed B can be turned into slivers, or be read along its stored rows, where they lie, as the left operand.
// What must be turned then is A, if it is not transposed, and C: that pays where these are small beside B.
#include "ops/gemm/gemm_register_turn.h"

#include "mathematics/division.h"
#include "ops/gemm/gemm_register_kernel.h"

namespace tessera::cpu_tbb {

namespace {

/// C turned has so few columns: more slivers would read the left operand so often that it is packed after all.
constexpr std::int64_t kMostRowsToTurn = 64;
/// A row of C takes so long for each vector of columns and element of k, if vectors go in pairs, and for one alone.
constexpr double kOfVectorInPair = 0.147, kOfVectorAlone = 0.2;
/// Turning an element of B, one that must come from further than the second-level cache, and one of C. Turning A takes
/// so long for each of its elements, and for each element of k beside them.
constexpr double kOfNearB = 0.08, kOfDistantB = 0.2, kOfC = 0.39, kOfA = 0.13, kOfStep = 1;
constexpr double kNearBytes = 256 * 1024;

/// The products of `rows` x `columns` sums with one element of k.
double of_step(std::int64_t rows, std::int64_t columns, std::int64_t lanes) {
  const std::int64_t vectors = mathematics::ceil_div(columns, lanes);
  const std::int64_t alone = vectors % 2;
  return static_cast<double>(rows) *
         (kOfVectorInPair * static_cast<double>(vectors - alone) + kOfVectorAlone * static_cast<double>(alone));
}

}  // namespace

TurnTimes turn_times(const Gemm& problem) {
  const std::int64_t lanes =
      (problem.type == DataType::float32 ? register_tile<float>() : register_tile<double>()).columns / 2;
  const auto m = static_cast<double>(problem.m), n = static_cast<double>(problem.n), k = static_cast<double>(problem.k);
  const bool is_near = n * k * static_cast<double>(size_bytes(problem.type)) <= kNearBytes;
  TurnTimes times;
  times.straight = k * (of_step(problem.m, problem.n, lanes) + n * (is_near ? kOfNearB : kOfDistantB));
  times.turned = k * of_step(problem.n, problem.m, lanes) + kOfC * m * n;
  if (!problem.transpose_a) times.turned += k * (kOfStep + kOfA * m);
  return times;
}

Turn turn_of(const Gemm& problem) {
  if (problem.n == 1 && problem.ldc == 1 && problem.transpose_a) return Turn::column;
  if (!problem.transpose_b || problem.m > kMostRowsToTurn) return Turn::none;
  const TurnTimes times = turn_times(problem);
  return times.turned < times.straight ? Turn::whole : Turn::none;
}

}  // namespace tessera::cpu_tbb
