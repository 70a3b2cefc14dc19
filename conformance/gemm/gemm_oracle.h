// What gemm must give: plain loops with about 106 significant bits, and the error bound of each element, derived in
// README.md. Nobody optimises this; it shares no code with any backend.
#pragma once

#include <cstdint>
#include <span>

#include "conformance/chance.h"

namespace tessera::conformance {

/// A gemm with its operands in host memory: a, b and c hold the stored matrices, rows packed (A is k x m where it is
/// transposed). alpha and beta are rounded to T already; c is looked at only if beta is not 0.
template <class T>
struct GemmInputs {
  Gemm problem;
  double alpha = 1;
  double beta = 0;
  std::span<const T> a;
  std::span<const T> b;
  std::span<const T> c;

  /// Element (row, column) of op(A), op(B) and C.
  [[nodiscard]] double a_at(std::int64_t row, std::int64_t column) const {
    return a[problem.transpose_a ? column * problem.m + row : row * problem.k + column];
  }
  [[nodiscard]] double b_at(std::int64_t row, std::int64_t column) const {
    return b[problem.transpose_b ? column * problem.k + row : row * problem.n + column];
  }
  [[nodiscard]] double c_at(std::int64_t row, std::int64_t column) const { return c[row * problem.n + column]; }
};

/// The bound of every element, whose terms are the products times alpha, and beta * c.
[[nodiscard]] SumBound gemm_bound(const Gemm& problem, double alpha, double beta);

/// Element (row, column) of C and its bound for the strict algorithm.
template <class T>
[[nodiscard]] ExpectedSum gemm_element(const GemmInputs<T>& inputs, std::int64_t row, std::int64_t column);

extern template ExpectedSum gemm_element(const GemmInputs<float>&, std::int64_t, std::int64_t);
extern template ExpectedSum gemm_element(const GemmInputs<double>&, std::int64_t, std::int64_t);

}  // namespace tessera::conformance
