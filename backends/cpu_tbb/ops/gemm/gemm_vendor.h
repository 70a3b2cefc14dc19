// What the variants "vendor_*" share: matrix multiplication by a library that is opened at run time, if it is there.
// They are yardsticks for our own variants and stand behind them in the list, so that none is taken unless asked for.
#pragma once

#include <cstdint>

#include "ops/gemm/gemm_operands.h"

namespace tessera::cpu_tbb {

/// C = beta * C, for the problems with nothing to add up, which the libraries are not asked for: what they do with NaN
/// in C, A and B then differs.
template <class T>
void scale_by_beta(const GemmMatrices<T>& gemm) noexcept {
  for (std::int64_t row = 0; row < gemm.m; ++row) gemm.scale_row(row);
}

/// Calls `multiply(alpha, beta, c, ldc)`, a library's gemm, such that alpha is applied to whole sums: libraries apply
/// it to parts of them, or to elements of A or B, which may leave the type's range where the result does not.
template <class T, class Multiply>
void multiply_and_scale(Executor& executor, const GemmMatrices<T>& gemm, const Multiply& multiply) {
  if (gemm.alpha == T(1) || gemm.alpha == T(-1)) return multiply(gemm.alpha, gemm.beta, gemm.c, gemm.ldc);
  const bool reads_c = gemm.beta != T(0);
  const auto count = static_cast<std::size_t>(reads_c ? gemm.m * gemm.n : 0);
  const ScratchPool::Loan loan(executor.scratch(), sizeof(T) * count);
  T* const sums = reads_c ? reinterpret_cast<T*>(loan.data()) : gemm.c;
  const std::int64_t step = reads_c ? gemm.n : gemm.ldc;
  multiply(T(1), T(0), sums, step);
  executor.parallel_for(gemm.m, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) gemm.store_row(row, 0, sums + row * step, gemm.n);
  });
}

}  // namespace tessera::cpu_tbb
