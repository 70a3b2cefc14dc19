// The inner parts of "exact_bytes" beside the products: distances, the list of those that are near, their weights and
// sums, in the best instruction set that the processor has. Everything up to the weights is exact.
#pragma once

#include <cstdint>

#include "ops/kernel_regression/kernel_regression_state.h"

namespace tessera::cpu_tbb {

/// Lists have room for so many entries more than they are said to hold: vectors are read and written as a whole.
inline constexpr std::int64_t kByteListSlack = 16;

/// Training rows that a query meets. Its squared distance from row i is query_length + lengths[i] - 2 * dots[i].
struct ByteRows {
  const std::int32_t* dots = nullptr;
  const std::int32_t* lengths = nullptr;
  std::int32_t query_length = 0;
  std::int64_t count = 0;
  std::int32_t first = 0;  ///< number of the first of them
};
/// Squared distances and whose they are.
struct ByteList {
  std::int32_t* squared = nullptr;
  std::int32_t* rows = nullptr;
  std::int64_t count = 0;
};

/// The least squared distance.
[[nodiscard]] std::int32_t least_of_bytes(const ByteRows& rows);
/// The same, and appends to the list, from the first row to the last, those that are not further away than `furthest`.
[[nodiscard]] std::int32_t list_near_bytes(const ByteRows& rows, std::int32_t furthest, ByteList& list);

/// How distances become weights.
struct ByteWeights {
  bool is_euclidean = false;
  float factor = 0;  ///< of the exponent; finite
  std::int32_t least = 0;
  std::int32_t furthest = 0;  ///< what is further away weighs 0
};
/// weights[i] = the weight of list.squared[i], 0 beyond the furthest.
void weigh_bytes(const ByteWeights& how, const ByteList& list, float* weights);
/// Sums of the list's weights, with targets[row] beside each.
[[nodiscard]] RegressionWeights sum_byte_weights(const ByteList& list, const float* weights, const float* targets);

}  // namespace tessera::cpu_tbb
