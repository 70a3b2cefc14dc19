// Which problems the variant "thin" takes, how it sees them, and where it pays.
#pragma once

#include <cstdint>

#include <tessera/ops/gemm.h>

#include "backend/backend.h"
#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Bytes of a row that one chunk reads: its 8 columns of the other operand stay in the second-level cache.
inline constexpr std::int64_t kThinPieceBytes = 16 * 1024;

/// Rows of so many bytes together are not found in second-level caches: fetching them ahead pays. Of fewer it does not:
/// 8 x 768 x 192 floats with B transposed took 10.9 us without and 14.3 with it on two threads of an EPYC (no file).
inline constexpr double kThinFarBytes = 1 << 20;

/// Which side of C is short, and whether sums run along the large operand's stored rows or down over them.
enum class ShortSide { none, columns, rows, columns_down, rows_down };
[[nodiscard]] ShortSide short_side(const Gemm& problem);
[[nodiscard]] inline bool is_down(ShortSide side) {
  return side == ShortSide::columns_down || side == ShortSide::rows_down;
}

[[nodiscard]] backend::Verdict thin_check(const Gemm& problem, const backend::Device& device);
/// Whatever the device: times of one thread are compared, and both variants share alike.
[[nodiscard]] backend::Verdict thin_pays(const Gemm& problem);
[[nodiscard]] backend::Verdict thin_pays(const Gemm& problem, const backend::Device& device);

}  // namespace tessera::cpu_tbb
