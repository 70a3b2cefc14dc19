// gemm's operands as a kernel reads them: typed, with transposes turned into steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include <tessera/ops/gemm.h>

#include "cpu_tbb_kernel.h"
#include "mathematics/gemm_as_computed.h"

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

/// One product of the problem's batch with its operands; a and b are op(A) and op(B).
template <class T>
struct GemmMatrices {
  GemmMatrices(const Gemm& problem, OperandAddresses operands, std::int64_t index)
      : m(problem.m),
        n(problem.n),
        beta(static_cast<T>(problem.beta)),
        a{reinterpret_cast<const T*>(operands[0]) + index * problem.stride_a, problem.lda, 1},
        b{reinterpret_cast<const T*>(operands[1]) + index * problem.stride_b, problem.ldb, 1},
        c(reinterpret_cast<T*>(operands[2]) + index * problem.stride_c),
        ldc(problem.ldc) {
    const Gemm computed = mathematics::gemm_as_computed(problem);
    k = computed.k;
    alpha = static_cast<T>(computed.alpha);
    if (problem.transpose_a) std::swap(a.row_step, a.column_step);
    if (problem.transpose_b) std::swap(b.row_step, b.column_step);
  }

  /// Writes alpha * sums + beta * C into `count` elements of C. With beta = 0 they are not read, and `sums` may be
  /// where they are to stand.
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

/// C = beta * C: there is nothing to add up, and alpha, whatever it is, has nothing to scale.
template <class T>
void scale_rows(Executor& executor, const GemmMatrices<T>& gemm) {
  executor.parallel_for(gemm.m, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) gemm.scale_row(row);
  });
}

/// How the products of a batch are given to the threads.
enum class BatchOrder {
  one_by_one,    ///< one product after the other, each with the whole executor: the variant uses its threads, or none
  side_by_side,  ///< the same for large products; small ones side by side, each computed by one thread
};

/// Is it faster to compute products side by side, each on one thread, than one after the other on all threads? Side by
/// side leaves threads idle in the last round. One after the other hands work to all threads once for each product,
/// which takes 2 microseconds with 2 threads and 30 with 16 (a Xeon whose cores do 50 to 100 multiply-adds in a
/// nanosecond).
[[nodiscard]] inline bool shares_products(const Gemm& problem, int threads) {
  if (threads == 1 || problem.batch == 1) return false;
  constexpr double kHandOverPerThread = 1 << 17;  // in multiply-adds
  const double product = static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                         static_cast<double>(std::max<std::int64_t>(problem.k, 1));
  const double batch = static_cast<double>(problem.batch);
  const double rounds = std::ceil(batch / threads);
  return rounds * product <= batch * (product / threads + kHandOverPerThread * threads);
}

/// Calls `compute(executor, GemmMatrices<T>)` for every product of the batch.
template <class T, class Compute>
void compute_batch(const Gemm& problem, Executor& executor, OperandAddresses operands, BatchOrder order,
                   const Compute& compute) {
  // An empty C may have huge numbers of rows, columns or products: a loop over these would not end.
  if (problem.m == 0 || problem.n == 0) return;
  if (order == BatchOrder::side_by_side && shares_products(problem, executor.threads())) {
    return executor.parallel_for(problem.batch, [&](std::int64_t first, std::int64_t last) {
      const std::unique_ptr<Executor> alone = executor.alone();
      for (std::int64_t i = first; i < last; ++i) compute(*alone, GemmMatrices<T>(problem, operands, i));
    });
  }
  for (std::int64_t i = 0; i < problem.batch; ++i) compute(executor, GemmMatrices<T>(problem, operands, i));
}

/// The kernel that calls `compute(executor, GemmMatrices<T>)` with T as the problem says. What compute writes must not
/// depend on the executor.
template <class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_gemm_kernel(const Gemm& problem, Compute compute,
                                                                BatchOrder order = BatchOrder::side_by_side) {
  return std::make_unique<CpuTbbKernel>([problem, compute, order](Executor& executor, OperandAddresses operands) {
    if (problem.type == DataType::float32) {
      compute_batch<float>(problem, executor, operands, order, compute);
    } else {
      compute_batch<double>(problem, executor, operands, order, compute);
    }
  });
}

}  // namespace tessera::cpu_tbb
