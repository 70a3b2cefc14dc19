// What all results of a kernel_regression must be: those of every query where that is quick to compute, else of
// samples.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "conformance/compare.h"
#include "conformance/kernel_regression/kernel_regression_oracle.h"

namespace tessera::conformance {

/// Results as they lie in memory; those that are not wanted are empty.
template <class T>
struct RegressionResults {
  std::span<const RegressionResult<T>> values;
  std::span<const RegressionResult<T>> votes;
  std::span<const std::int64_t> nearest_row;
  std::span<const RegressionSquared<T>> nearest_squared;
  std::span<const RegressionResult<T>> neighbours;
};

template <class T>
class RegressionReference {
 public:
  /// `inputs` must live as long. `draw`: of queries and training rows.
  RegressionReference(const RegressionInputs<T>& inputs, std::uint64_t seed, Draw draw = Draw::chosen);

  void check(const RegressionResults<T>& results, double error_factor, Comparison& comparison) const;

 private:
  struct Sample {
    std::int64_t query = 0;
    RegressionDistances distances;
  };
  void check_sample(const RegressionResults<T>& results, const Sample& sample, const RegressionExpected& expected,
                    double error_factor, Comparison& comparison) const;
  void check_all_together(const RegressionResults<T>& results, const std::vector<RegressionExpected>& expected,
                          Comparison& comparison) const;
  void check_unwritten(const RegressionResults<T>& results, Comparison& comparison) const;

  KernelRegression problem_;
  RegressionOracle<T> oracle_;
  std::vector<Sample> samples_;
  mutable std::mutex mutex_;
  mutable std::map<double, std::vector<RegressionExpected>> expected_;  // by error factor
};

extern template class RegressionReference<float>;
extern template class RegressionReference<double>;
extern template class RegressionReference<std::uint8_t>;

}  // namespace tessera::conformance
