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

/// Instructions, 16 steps of k each, that the first `steps` of k in a panel take part in, zeros behind them left out.
/// Of 32 steps the first instruction has 0 to 7 and 16 to 23 where operands are prepared, and others have 0 to 15: no
/// layout has more instructions than this.
[[nodiscard]] inline double gemm_split_instructions(double steps, double panel_depth) {
  const double whole = std::floor(steps / 32);
  return std::min(2 * whole + std::min(2.0, std::ceil((steps - 32 * whole) / 8)), panel_depth / 16);
}

/// Roundings of float32 that a sum of k products counts as. The tensor cores add up `panel_depth` steps of k, a
/// multiple of 16, before a sum goes to a float32 register.
[[nodiscard]] inline double gemm_split_roundings(double k, GemmSplitKind kind, std::int64_t panel_depth) {
  const auto depth = static_cast<double>(panel_depth);
  // What fp16 does to a product, what the tensor cores cut off from a panel's sums (each product once, and three times
  // what an instruction adds up; the small products of split count as one), and the sum over panels.
  const double of_product = kind == GemmSplitKind::split ? 12 + 1 : 16384;
  const double steps = std::min(k, depth);
  const double in_panel = steps + 3 * gemm_split_instructions(steps, depth);
  return of_product + in_panel + std::ceil(k / depth);
}

/// The bound as a multiple of the strict algorithm's.
[[nodiscard]] inline double gemm_split_error_factor(const Gemm& problem, GemmSplitKind kind, std::int64_t panel_depth) {
  if (problem.k == 0) return 1;
  const auto k = static_cast<double>(problem.k);
  constexpr double kSecondOrder = 1 + 0x1p-8;
  return std::max(1.0, kSecondOrder * (gemm_split_roundings(k, kind, panel_depth) + tiny_allowance(problem)) / k);
}

}  // namespace tessera::mathematics
