// Queries meet training rows of bytes: the products of a part become distances, of which those that may count are
// listed, and a query's list is added to its state when it is full or the block ends. What the least distance is by
// then decides what counts: a nearer row costs nothing but a comparison.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "ops/kernel_regression/kernel_regression_bytes_fold.h"
#include "ops/kernel_regression/kernel_regression_reach.h"
#include "ops/kernel_regression/kernel_regression_rounds.h"

namespace tessera::cpu_tbb {

/// What a query of a group knows of a block beside its state.
struct BytesNear {
  /// Places of a query's list, of which a part may fill as many as it has rows.
  static constexpr std::int64_t kPlaces = 2 * kRegressionPart;
  static constexpr std::int64_t kListWords = 2 * (kPlaces + kByteListSlack);
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();  ///< beyond every distance

  std::int32_t least = kNone;
  std::int32_t nearest = 0;   ///< row of the block
  std::int32_t furthest = 0;  ///< that counts beside the least
  std::int32_t listed = 0;
};

class BytesMeeting {
 public:
  explicit BytesMeeting(const KernelRegression& problem)
      : outputs_(problem.outputs),
        has_one_sum_(problem.outputs == 1 && problem.classes == 0),
        reach_(problem),
        weight_of_(problem) {}

  /// For joining states.
  [[nodiscard]] const mathematics::RegressionWeight<double>& weight_of() const noexcept { return weight_of_; }

  /// `words`: the query's list, BytesNear::kListWords. Returns whether there is no room for another part.
  [[nodiscard]] bool meet(const ByteRows& rows, std::int32_t* words, BytesNear& near) const {
    if (near.least == BytesNear::kNone) near.furthest = furthest_from(least_of_bytes(rows));
    ByteList list = list_of(words, near);
    const std::int64_t before = list.count;
    const std::int32_t least = list_near_bytes(rows, near.furthest, list);
    near.listed = static_cast<std::int32_t>(list.count);
    if (least < near.least) {
      near.least = least;
      near.nearest = list.rows[std::find(list.squared + before, list.squared + list.count, least) - list.squared];
      near.furthest = furthest_from(least);
    }
    return list.count > BytesNear::kPlaces - kRegressionPart;
  }

  /// Empties the list of a query. `weights`: memory for all its places.
  void add_listed(const RegressionOperands<std::uint8_t>& regression, std::int32_t* words, std::int64_t block_row,
                  BytesNear& near, const RegressionState& state, float* weights) const {
    const ByteList list = list_of(words, near);
    if (list.count == 0) return;
    near.listed = 0;
    if (near.least < state.least()) state.approach(near.least, block_row + near.nearest, weight_of_);
    weigh_bytes({.is_euclidean = reach_.is_euclidean(),
                 .factor = reach_.factor(),
                 .least = near.least,
                 .furthest = near.furthest},
                list, weights);
    const float* const targets = regression.targets + block_row * outputs_;
    if (has_one_sum_) return state.add(sum_byte_weights(list, weights, targets));
    for (std::int64_t i = 0; i < list.count; ++i) {
      if (weights[i] != 0) state.add(static_cast<double>(weights[i]), targets + list.rows[i] * outputs_);
    }
  }

 private:
  [[nodiscard]] static ByteList list_of(std::int32_t* words, const BytesNear& near) noexcept {
    return {.squared = words, .rows = words + BytesNear::kListWords / 2, .count = near.listed};
  }
  [[nodiscard]] std::int32_t furthest_from(std::int32_t least) const noexcept {
    return static_cast<std::int32_t>(
        std::min(reach_.beyond(least) + 1, static_cast<double>(std::numeric_limits<std::int32_t>::max())));
  }

  std::int64_t outputs_;
  bool has_one_sum_;
  RegressionReach<float> reach_;
  mathematics::RegressionWeight<double> weight_of_;
};

}  // namespace tessera::cpu_tbb
