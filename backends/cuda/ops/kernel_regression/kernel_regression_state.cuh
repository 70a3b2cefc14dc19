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
  __device__ void approach(const Arguments& regression, double before, double least) {
    const double kept = isinf(before) ? 0 : kept_weight(before, least, regression.factor, regression.is_euclidean);
    least_ = least;
    sum_ = scaled(sum_, kept);
    squares_ = scaled(scaled(squares_, kept), kept);
    output_ = scaled(output_, kept);
    scale_in_memory(regression, kept);
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
  /// A row of this weight, with its targets, of which the first has been read.
  __device__ __forceinline__ void add(const Arguments& regression, double weight, Result first, const Result* targets) {
    sum_ += weight;
    squares_ = fma(weight, weight, squares_);
    output_ = fma(weight, static_cast<double>(first), output_);
    add_in_memory(regression, weight, targets);
  }
  /// The same of the sums of which there may be many.
  __device__ __forceinline__ void add_in_memory(const Arguments& regression, double weight, const Result* targets,
                                                RegressionPart part = {}) const {
    for (std::int64_t r = 1 + part.number; r < regression.outputs; r += part.count) {
      double& sum = at(regression, kRegressionSums + r);
      sum = fma(weight, static_cast<double>(targets[r]), sum);
    }
    if (regression.classes == 0) return;
    const std::int64_t number = class_of(targets[0], regression.classes);
    if (number < 0) return;
    const std::int64_t place = kRegressionSums + regression.outputs + number;
    if ((place - kInMemory) % part.count == part.number) at(regression, place) += weight;
  }

 private:
  static constexpr std::int64_t kInMemory = kRegressionSums + 1;  ///< and all places behind it

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
