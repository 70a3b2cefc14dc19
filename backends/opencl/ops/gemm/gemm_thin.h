// gemm, thin: how a problem is read, which shapes there are, and what they take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// The most rows or columns of C that count as few.
inline constexpr std::int64_t kThinMost = 16;
/// Work-items of a group.
inline constexpr std::int64_t kThinItems = 256;

/// How a group of gemm_thin.cl works on a problem.
struct GemmThinShape {
  bool few_rows = false;  ///< of C; else few columns
  bool along = false;     ///< sums run along the large operand's stored rows; else down over them
  /// Sums of each row or column: the power of two from what the problem has on; for processors 4 or 16, since each is
  /// a program of its own.
  std::int64_t few = 1;
  std::int64_t lanes = 32;
  std::int64_t chunk = 4;  ///< elements of 16 bytes
  bool is_gpu = false;     ///< else a work-item has little at once: compilers for processors take long to unroll it
  bool shuffles = false;   ///< lanes add by NVIDIA's instructions

  GemmThinShape(const Gemm& problem, std::int64_t lanes, const DeviceFacts& facts);

  [[nodiscard]] std::int64_t many_of(const Gemm& problem) const { return few_rows ? problem.n : problem.m; }
  [[nodiscard]] std::int64_t few_of(const Gemm& problem) const { return few_rows ? problem.m : problem.n; }
  [[nodiscard]] std::int64_t slots() const { return kThinItems / lanes; }
  /// Rows of the large operand, of a work-item.
  [[nodiscard]] std::int64_t rows() const { return !along || !is_gpu ? 1 : few > 8 && chunk == 2 ? 2 : 4; }
  /// Rows or columns of it, of a group.
  [[nodiscard]] std::int64_t tile() const { return along ? slots() * rows() : lanes * chunk; }
  /// Loads one after the other along k.
  [[nodiscard]] std::int64_t loads() const;
  /// Steps of k that a group takes at once.
  [[nodiscard]] std::int64_t depth() const { return along ? lanes * chunk * loads() : slots() * loads(); }
  [[nodiscard]] std::uint64_t local_bytes() const;
  [[nodiscard]] std::uint64_t groups(const Gemm& problem) const;
  /// For the compiler.
  [[nodiscard]] std::string options() const;
};

/// The values of the tunable lanes.
[[nodiscard]] std::vector<std::int64_t> gemm_thin_lanes(const Gemm& problem, const DeviceFacts& facts);

struct GemmThinChoice {
  std::int64_t lanes = 32;
  std::int64_t split_k = 1;
  double microseconds = 0;  ///< that it is expected to take on an H100
};
[[nodiscard]] GemmThinChoice choose_gemm_thin(const Gemm& problem, const DeviceFacts& facts);

}  // namespace tessera::opencl
