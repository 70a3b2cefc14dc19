// The error bound of gemm's variants that multiply float32 as scaled fp16, on any backend (docs/decisions/0025).
#pragma once

#include <tessera/ops/gemm.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tessera::mathematics {

/// What such variants keep of an element: rounded to fp16 with what rounding left beside it, or the first alone.
enum class GemmSplitKind : std::uint8_t { split, scaled_half };

/// Elements that fp16 holds with fewer bits may make a sum off by so many units of roundoff of itself, and no more.
[[nodiscard]] inline double tiny_allowance(const Gemm& problem) {
  return std::max(16.0, static_cast<double>(problem.k) / 4);
}

/// The bound as a multiple of the strict algorithm's. The tensor cores add up `panel_depth` steps of k, a multiple of
/// 16, before a sum goes to a float32 register.
[[nodiscard]] inline double gemm_split_error_factor(const Gemm& problem, GemmSplitKind kind, std::int64_t panel_depth) {
  if (problem.k == 0) return 1;
  const auto k = static_cast<double>(problem.k);
  const auto depth = static_cast<double>(panel_depth);
  // In units of roundoff of float32: what fp16 does to a product, what the tensor cores cut off from a panel's sums
  // (the small products of split count as one), and the sum over panels.
  const double of_product = kind == GemmSplitKind::split ? 12 + 1 : 16384;
  const double in_panel = std::ceil(std::min(k, depth) / 16) * (std::min(k, 16.0) + 3);
  const double of_sum = std::ceil(k / depth);
  constexpr double kSecondOrder = 1 + 0x1p-8;
  return std::max(1.0, kSecondOrder * (of_product + in_panel + of_sum + tiny_allowance(problem)) / k);
}

}  // namespace tessera::mathematics
