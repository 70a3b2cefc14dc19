// The operator gemm: C = alpha * op(A) * op(B) + beta * C, row-major, once or for a batch of matrices.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include <tessera/buffer.h>
#include <tessera/types.h>

namespace tessera {

/// Dense matrix multiplication. op(X) is X or its transpose. Sizes may be 0. What the factors, rounded to `type`,
/// decide:
///
///   k = 0        there is no product, and alpha is not looked at, NaN or not: C = beta * C
///   alpha = 0    A and B are not read, so that their NaN do not spread: C = beta * C
///   beta = 0     C is not read: C = alpha * op(A) * op(B), and 0 where k or alpha is 0
///
/// Otherwise alpha multiplies each sum of k products as a whole, once. An operand that is not read must be given all
/// the same.
struct Gemm {
  static constexpr std::string_view kName = "gemm";
  /// As a stride: the next matrix begins where the last row of this one ends, gap of the leading dimension included.
  static constexpr std::int64_t kPacked = -1;

  std::int64_t m = 0;                 ///< rows of op(A) and C
  std::int64_t n = 0;                 ///< columns of op(B) and C
  std::int64_t k = 0;                 ///< columns of op(A), rows of op(B)
  DataType type = DataType::float32;  ///< of all three matrices: float32 or float64
  bool transpose_a = false;           ///< A is stored k x m
  bool transpose_b = false;           ///< B is stored n x k
  double alpha = 1.0;                 ///< rounded to `type` before use
  double beta = 0.0;                  ///< rounded to `type` before use
  std::int64_t lda = 0;               ///< elements from one stored row of A to the next; 0: rows are packed
  std::int64_t ldb = 0;               ///< the same for B
  std::int64_t ldc = 0;               ///< the same for C
  std::int64_t batch = 1;             ///< how many products of this shape; all other fields hold for each of them
  std::int64_t stride_a = kPacked;    ///< elements from one A of the batch to the next; 0: all products read the same
  std::int64_t stride_b = kPacked;    ///< the same for B
  std::int64_t stride_c = kPacked;    ///< the same for C, whose matrices must not overlap
  Accuracy accuracy = Accuracy::accurate;

  /// What it is run with. C must not overlap A or B; elements of C outside the m x n matrix are never written.
  struct Operands {
    ConstOperand a;
    ConstOperand b;
    Operand c;
  };

  bool operator==(const Gemm&) const = default;
};

/// The same problem with every leading dimension and stride filled in. A packed stride too large for its type becomes
/// the largest, which no device takes.
[[nodiscard]] constexpr Gemm with_layout(Gemm problem) noexcept {
  if (problem.lda == 0) problem.lda = problem.transpose_a ? problem.m : problem.k;
  if (problem.ldb == 0) problem.ldb = problem.transpose_b ? problem.k : problem.n;
  if (problem.ldc == 0) problem.ldc = problem.n;
  const auto packed = [](std::int64_t rows, std::int64_t leading) {
    constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
    return rows > 0 && leading > kLargest / rows ? kLargest : rows * leading;
  };
  if (problem.stride_a == Gemm::kPacked)
    problem.stride_a = packed(problem.transpose_a ? problem.k : problem.m, problem.lda);
  if (problem.stride_b == Gemm::kPacked)
    problem.stride_b = packed(problem.transpose_b ? problem.n : problem.k, problem.ldb);
  if (problem.stride_c == Gemm::kPacked) problem.stride_c = packed(problem.m, problem.ldc);
  return problem;
}

}  // namespace tessera
