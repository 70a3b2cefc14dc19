// A problem as processors compute it: what the variants without local memory share.
#pragma once

#include <vector>

#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// A problem as processors compute it. C that is a single column of neighbouring elements becomes the row that it also
/// is, and then A and B change places; an operand that is a single row or column is taken as lying along k if it can
/// be.
struct Oriented {
  Gemm problem;
  bool swapped = false;  ///< A is the operator's second operand, and B the first

  /// A, B and C as the memory that a launch begins with.
  [[nodiscard]] std::vector<MemoryArgument> operands() const;
};
[[nodiscard]] Oriented orient(const Gemm& computed) noexcept;

}  // namespace tessera::opencl
