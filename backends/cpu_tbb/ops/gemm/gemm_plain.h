// The definition of gemm written down as three loops; sequential and naive differ only in who runs them.
//
// One row of C after another, in it one element after another, each a sum over k in order:
//
//            B k x n                   Every element of A is read n times and every element of B m times,
//            | | |#| |                 B with a step of one row, so that each multiply-add costs a cache
//            | | |#| |                 line once B is larger than the cache. That is the point: this is
//   A m x k  | | |#| |                 what a program does that was written from the formula, and what
//   -------  +-+-+-+-+                 every speed-up is measured against.
//   #######  . . .#. .  C m x n
//   -------  . . . . .
#pragma once

#include "ops/gemm/gemm_operands.h"

namespace tessera::cpu_tbb {

/// Rows [first, last) of C.
template <class T>
void multiply_rows(const GemmMatrices<T>& gemm, std::int64_t first, std::int64_t last) noexcept {
  for (std::int64_t i = first; i < last; ++i) {
    if (gemm.k == 0) {
      gemm.scale_row(i);
      continue;
    }
    for (std::int64_t j = 0; j < gemm.n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < gemm.k; ++p) sum += *gemm.a.at(i, p) * *gemm.b.at(p, j);
      gemm.store_row(i, j, &sum, 1);
    }
  }
}

}  // namespace tessera::cpu_tbb
