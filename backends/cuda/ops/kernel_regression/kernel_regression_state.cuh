// kernel_regression: what a query needs to know of the training rows of a block, and how it changes.
//
//   state of (block, query), in double:   least | row | sum w | sum w^2 | sum f w of each output | sum w of each class
//
// Weights are relative to the nearest row so far. A row that is further away than `furthest` weighs 0 and need not be
// met.
#pragma once

#include "ops/kernel_regression/kernel_regression_rows.cuh"
#include "ops/kernel_regression/kernel_regression_tiles_arguments.h"

namespace tessera::cuda {

/// What is left of a weight that was relative to a row at squared distance `before`, now that it is to one at `least`.
__device__ __forceinline__ double kept_weight(double before, double least, double factor, bool is_euclidean) {
  if (before == least) return 1;
  double above = before - least;
  if (is_euclidean) above /= sqrt(before) + sqrt(least);
  return exp(-factor * above);
}

/// Where nothing of a sum is left, 0 takes its place, though it was not finite.
__device__ __forceinline__ double scaled(double sum, double weight) {
  return weight == 0 ? 0 : sum * weight;
}

/// The squared distance beyond which a row weighs nothing beside one at `least`: a little more than where exp() passes
/// the smallest normal number (RegressionTileArguments::reach).
__device__ __forceinline__ double furthest_from(double least, double reach, bool is_euclidean) {
  if (!is_euclidean) return least + reach;
  const double root = sqrt(least) + reach;
  return root * root * (1 + 8 * DBL_EPSILON);
}

/// The class that a first target votes for, or -1.
template <class Result>
__device__ __forceinline__ std::int64_t class_of(Result target, std::int64_t classes) {
  if (!(target >= 0) || !(target < static_cast<Result>(classes))) return -1;
  const auto number = static_cast<std::int64_t>(target);
  return static_cast<Result>(number) == target && number < classes ? number : -1;
}

inline constexpr unsigned kAllLanes = 0xffffffffU;

/// What a member has of a team of neighbouring lanes. All lanes of a warp call it.
template <int kTeam, class Value>
[[nodiscard]] __device__ __forceinline__ Value of_team(Value mine, int member) {
  return kTeam == 1 ? mine : __shfl_sync(kAllLanes, mine, member, kTeam);
}

/// Of the sums in memory, those that one of `count` threads changes.
struct RegressionPart {
  int number = 0;
  int count = 1;
};

/// One query's state of one block. A thread that meets rows keeps the numbers that every problem has, the last of which
/// is the first output's sum; others it changes in memory.
template <class T>
class RegressionState {
 public:
  using Arguments = RegressionTileArguments<T>;
  using Result = typename Arguments::Result;

  RegressionState() = default;
  __device__ RegressionState(const Arguments& regression, std::int64_t block, std::int64_t query)
      : first_(regression.states + block * size(regression) * regression.state_queries + query) {}

  [[nodiscard]] static __device__ std::int64_t size(const Arguments& regression) {
    return kRegressionSums + regression.outputs + regression.classes;
  }
  /// No row met.
  __device__ void clear(const Arguments& regression, RegressionPart part = {}) const {
    for (std::int64_t place = kInMemory + part.number; place < size(regression); place += part.count) {
      at(regression, place) = 0;
    }
  }
  /// A row nearer than all before, which is not added yet.
  __device__ void approach(const Arguments& regression, double before, double least, RegressionPart part) {
    const double kept = isinf(before) ? 0 : kept_weight(before, least, regression.factor, regression.is_euclidean);
    least_ = least;
    sum_ = scaled(sum_, kept);
    squares_ = scaled(scaled(squares_, kept), kept);
    output_ = scaled(output_, kept);
    scale_in_memory(regression, kept, part);
  }
  __device__ void scale_in_memory(const Arguments& regression, double kept, RegressionPart part = {}) const {
    for (std::int64_t place = kInMemory + part.number; place < size(regression); place += part.count) {
      double& sum = at(regression, place);
      sum = scaled(sum, kept);
    }
  }
  /// Takes over what a caller has kept instead.
  __device__ void set_sums(double least, double sum, double squares, double output) {
    least_ = least;
    sum_ = sum;
    squares_ = squares;
    output_ = output;
  }
  __device__ void meet_nearest(std::int64_t row) { row_ = static_cast<double>(row); }
  /// Writes what the thread has kept.
  __device__ void write(const Arguments& regression) const {
    at(regression, kRegressionLeast) = least_;
    at(regression, kRegressionRow) = row_;
    at(regression, kRegressionSum) = sum_;
    at(regression, kRegressionSquares) = squares_;
    at(regression, kRegressionSums) = output_;
  }
  __device__ void set(const Arguments& regression, std::int64_t place, double number) const {
    at(regression, place) = number;
  }
  __device__ void set_row(const Arguments& regression, std::int64_t row) const {
    at(regression, kRegressionRow) = static_cast<double>(row);
  }
  /// A row of this weight, whose first target has been read.
  __device__ __forceinline__ void add(double weight, double first) {
    sum_ += weight;
    squares_ = fma(weight, weight, squares_);
    output_ = fma(weight, first, output_);
  }
  /// Rows of a team, the first member's before the second's, in the sums of which there may be many: each member
  /// changes every kTeam-th. All lanes of a warp call it, also those whose query is not there or meets nothing, which
  /// have no part. `targets` are those of row 0.
  template <int kTeam, class Weight, int kCount>
  __device__ __forceinline__ void add_in_memory(const Arguments& regression, const Weight (&weights)[kCount],
                                                const int (&rows)[kCount], const Result* targets, int member,
                                                bool has_part) const {
    // So many sums at a time that none waits for another's memory.
    constexpr int kSums = 4;
    const auto outputs = static_cast<int>(regression.outputs) - 1;
#pragma unroll 1
    for (int first = member; first - member < outputs; first += kSums * kTeam) {
      add_sums<kTeam, kSums>(regression, first, first < outputs ? outputs - first : 0, has_part,
                             [&](double(&sums)[kSums]) {
                               for_rows_of_team<kTeam>(weights, rows, [&](Weight weight, int row) {
                                 const Result* const numbers = targets + row * regression.outputs + 1 + first;
                                 const bool weighs = weight != 0;  // or else a target may be infinite
#pragma unroll
                                 for (int k = 0; k < kSums; ++k) {
                                   Result factor = 0;
                                   if (weighs && first + k * kTeam < outputs) factor = numbers[k * kTeam];
                                   sums[k] = fma(static_cast<double>(weight), static_cast<double>(factor), sums[k]);
                                 }
                               });
                             });
    }
    constexpr int kFewClasses = 64;
    const auto classes = static_cast<int>(regression.classes);
    if (classes <= kFewClasses) {
      const int own = (member + kTeam - outputs % kTeam) % kTeam;  // a member's first class
#pragma unroll 1
      for (int first = own; first - own < classes; first += kSums * kTeam) {
        add_sums<kTeam, kSums>(regression, outputs + first, first < classes ? classes - first : 0, has_part,
                               [&](double(&sums)[kSums]) {
                                 for_rows_of_team<kTeam>(weights, rows, [&](Weight weight, int row) {
                                   const Result voted = targets[(weight == 0 ? 0 : row) * regression.outputs];
                                   const auto vote = static_cast<double>(weight);
#pragma unroll
                                   for (int k = 0; k < kSums; ++k)
                                     sums[k] += voted == static_cast<Result>(first + k * kTeam) ? vote : 0.0;
                                 });
                               });
      }
      return;
    }
    // Of many classes a row changes one.
#pragma unroll 1
    for (int other = 0; other < kTeam; ++other) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const Weight weight = of_team<kTeam>(weights[i], other);
        const Result* const row = targets + of_team<kTeam>(rows[i], other) * regression.outputs;
        const std::int64_t number = weight == 0 ? -1 : class_of(row[0], regression.classes);
        if (number < 0 || (outputs + number) % kTeam != member) continue;
        at(regression, kInMemory + outputs + number) += static_cast<double>(weight);
      }
    }
  }

 private:
  static constexpr std::int64_t kInMemory = kRegressionSums + 1;  ///< and all places behind it

  /// Calls add() for every kTeam-th sum in memory from this one on, `count` places.
  template <int kTeam, int kSums, class Add>
  __device__ __forceinline__ void add_sums(const Arguments& regression, int first, int count, bool has_part,
                                           Add add) const {
    double sums[kSums];
#pragma unroll
    for (int k = 0; k < kSums; ++k) {
      sums[k] = has_part && k * kTeam < count ? at(regression, kInMemory + first + k * kTeam) : 0;
    }
    add(sums);
#pragma unroll
    for (int k = 0; k < kSums; ++k) {
      if (has_part && k * kTeam < count) at(regression, kInMemory + first + k * kTeam) = sums[k];
    }
  }
  /// Calls visit(weight, row) for the rows of all members.
  template <int kTeam, class Weight, int kCount, class Visit>
  static __device__ __forceinline__ void for_rows_of_team(const Weight (&weights)[kCount], const int (&rows)[kCount],
                                                          Visit visit) {
#pragma unroll 1
    for (int other = 0; other < kTeam; ++other) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) visit(of_team<kTeam>(weights[i], other), of_team<kTeam>(rows[i], other));
    }
  }

  [[nodiscard]] __device__ double& at(const Arguments& regression, std::int64_t place) const {
    return first_[place * regression.state_queries];
  }

  double* first_ = nullptr;
  double least_ = INFINITY;
  double row_ = -1;
  double sum_ = 0;
  double squares_ = 0;
  double output_ = 0;
};

}  // namespace tessera::cuda
