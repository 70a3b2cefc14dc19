// kernel_regression's operands as a kernel reads them, typed.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <tessera/ops/kernel_regression.h>

#include "cpu_tbb_kernel.h"

namespace tessera::cpu_tbb {

/// One run's operands for rows of T. Results that are not wanted are null.
template <class T>
struct RegressionOperands {
  using Result = std::conditional_t<std::is_same_v<T, double>, double, float>;
  /// Of squared distances: whole numbers for bytes.
  using Squared = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int64_t, T>;

  RegressionOperands(const KernelRegression& regression, OperandAddresses operands)
      : problem(regression),
        queries(reinterpret_cast<const T*>(operands[0])),
        training(reinterpret_cast<const T*>(operands[1])),
        targets(reinterpret_cast<const Result*>(operands[2])),
        values(reinterpret_cast<Result*>(operands[3])),
        votes(reinterpret_cast<Result*>(operands[4])),
        nearest_row(reinterpret_cast<std::int64_t*>(operands[5])),
        nearest_squared(reinterpret_cast<Squared*>(operands[6])),
        neighbours(reinterpret_cast<Result*>(operands[7])),
        before(reinterpret_cast<const double*>(operands[8])),
        after(reinterpret_cast<double*>(operands[9])) {}

  const KernelRegression& problem;
  const T* queries;
  const T* training;  ///< raw, or in whatever form the variant prepared it
  const Result* targets;
  Result* values;
  Result* votes;
  std::int64_t* nearest_row;
  Squared* nearest_squared;
  Result* neighbours;
  const double* before;  ///< of a slab, see kernel_regression_state.h
  double* after;
};

/// The kernel that calls `compute(executor, RegressionOperands<T>)` with T as the problem says. No queries are nothing
/// to do.
template <class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_regression_kernel(const KernelRegression& problem,
                                                                      Compute compute) {
  return std::make_unique<CpuTbbKernel>(
      [problem, compute = std::move(compute)](Executor& executor, OperandAddresses operands) {
        if (problem.queries == 0) return;
        if (problem.type == DataType::uint8)
          return compute(executor, RegressionOperands<std::uint8_t>(problem, operands));
        if (problem.type == DataType::float32) return compute(executor, RegressionOperands<float>(problem, operands));
        compute(executor, RegressionOperands<double>(problem, operands));
      });
}

}  // namespace tessera::cpu_tbb
