// gemm's operands as a kernel reads them: typed, with transposes turned into steps.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <tessera/ops/gemm.h>

#include "cpu_tbb_kernel.h"

namespace tessera::cpu_tbb {

/// A matrix in memory: element (row, column) is at data[row * row_step + column * column_step]. One step is 1.
template <class T>
struct ConstMatrix {
  const T* data = nullptr;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;
  [[nodiscard]] const T* at(std::int64_t row, std::int64_t column) const noexcept {
    return data + (row * row_step + column * column_step);
  }
};

/// The problem with its operands; a and b are op(A) and op(B).
template <class T>
struct GemmMatrices {
  GemmMatrices(const Gemm& problem, OperandAddresses operands)
      : m(problem.m),
        n(problem.n),
        k(static_cast<T>(problem.alpha) == T(0) ? 0 : problem.k),
        alpha(static_cast<T>(problem.alpha)),
        beta(static_cast<T>(problem.beta)),
        a{reinterpret_cast<const T*>(operands[0]), problem.lda, 1},
        b{reinterpret_cast<const T*>(operands[1]), problem.ldb, 1},
        c(reinterpret_cast<T*>(operands[2])),
        ldc(problem.ldc) {
    if (problem.transpose_a) std::swap(a.row_step, a.column_step);
    if (problem.transpose_b) std::swap(b.row_step, b.column_step);
  }

  /// Writes alpha * sums + beta * C into `count` elements of C. With beta = 0 they are not read.
  void store_row(std::int64_t row, std::int64_t column, const T* sums, std::int64_t count) const noexcept {
    T* const target = c + row * ldc + column;
    if (beta == T(0)) {
      for (std::int64_t j = 0; j < count; ++j) target[j] = alpha * sums[j];
    } else {
      for (std::int64_t j = 0; j < count; ++j) target[j] = alpha * sums[j] + beta * target[j];
    }
  }

  /// A row of C = beta * C, for what has nothing to add up. With beta = 0 it is not read.
  void scale_row(std::int64_t row) const noexcept {
    T* const target = c + row * ldc;
    for (std::int64_t j = 0; j < n; ++j) target[j] = beta == T(0) ? T(0) : beta * target[j];
  }

  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;  ///< 0 if alpha is 0, so that A and B are not read
  T alpha = 0;
  T beta = 0;
  ConstMatrix<T> a;
  ConstMatrix<T> b;
  T* c = nullptr;
  std::int64_t ldc = 0;
};

/// The kernel that calls `compute(executor, GemmMatrices<T>)` with T as the problem says.
template <class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_gemm_kernel(const Gemm& problem, Compute compute) {
  return std::make_unique<CpuTbbKernel>([problem, compute](Executor& executor, OperandAddresses operands) {
    // An empty C may have any number of rows or columns: nobody may count them.
    if (problem.m == 0 || problem.n == 0) return;
    if (problem.type == DataType::float32) {
      compute(executor, GemmMatrices<float>(problem, operands));
    } else {
      compute(executor, GemmMatrices<double>(problem, operands));
    }
  });
}

}  // namespace tessera::cpu_tbb
