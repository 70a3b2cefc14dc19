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
#include "ops/gemm/gemm_hand_over.h"

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
  side_by_side,  ///< each product computed by one thread, several at a time
  by_time        ///< as is expected to be fastest: one of the two, or all products on the calling thread
};

/// What BatchOrder::by_time comes to, and on how many threads. Side by side leaves threads idle in the last round. One
/// after the other hands work to all threads once for each product. Small batches take less time on one thread than
/// either hand-over.
struct BatchPlan {
  BatchOrder order = BatchOrder::one_by_one;
  int threads = 1;
};
[[nodiscard]] inline BatchPlan batch_plan(const Gemm& problem, int threads) {
  if (threads == 1 || problem.batch == 1) return {BatchOrder::one_by_one, threads};
  const double product = product_time(problem.m, problem.n, std::max<std::int64_t>(problem.k, 1));
  const auto batch = static_cast<double>(problem.batch);
  const double alone = batch * product;
  const double side_by_side =
      std::ceil(batch / threads) * product + hand_over(std::min<std::int64_t>(problem.batch, threads));
  const double one_by_one = batch * (product / threads + hand_over(threads));
  if (alone <= std::min(side_by_side, one_by_one)) return {BatchOrder::side_by_side, 1};
  return {side_by_side <= one_by_one ? BatchOrder::side_by_side : BatchOrder::one_by_one, threads};
}
/// Has a product of the batch one thread alone?
[[nodiscard]] inline bool shares_products(const Gemm& problem, int threads) {
  return batch_plan(problem, threads).order == BatchOrder::side_by_side;
}

/// Calls `compute(executor, GemmMatrices<T>)` for every product of the batch.
template <class T, class Compute>
void compute_batch(const Gemm& problem, Executor& executor, OperandAddresses operands, BatchOrder order,
                   const Compute& compute) {
  // An empty C may have huge numbers of rows, columns or products: a loop over these would not end.
  if (problem.m == 0 || problem.n == 0) return;
  BatchPlan plan{order, executor.threads()};
  if (order == BatchOrder::by_time) plan = batch_plan(problem, executor.threads());
  if (plan.order == BatchOrder::side_by_side) {
    const auto compute_some = [&](std::int64_t first, std::int64_t last) {
      const std::unique_ptr<Executor> alone = executor.alone();
      for (std::int64_t i = first; i < last; ++i) compute(*alone, GemmMatrices<T>(problem, operands, i));
    };
    return plan.threads == 1 ? compute_some(0, problem.batch) : executor.parallel_for(problem.batch, compute_some);
  }
  for (std::int64_t i = 0; i < problem.batch; ++i) compute(executor, GemmMatrices<T>(problem, operands, i));
}

/// The kernel that calls `compute(executor, GemmMatrices<T>)` with T as the problem says. What compute writes must not
/// depend on the executor.
template <class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_gemm_kernel(const Gemm& problem, Compute compute,
                                                                BatchOrder order = BatchOrder::by_time) {
  return std::make_unique<CpuTbbKernel>([problem, compute, order](Executor& executor, OperandAddresses operands) {
    if (problem.type == DataType::float32) {
      compute_batch<float>(problem, executor, operands, order, compute);
    } else {
      compute_batch<double>(problem, executor, operands, order, compute);
    }
  });
}

}  // namespace tessera::cpu_tbb
