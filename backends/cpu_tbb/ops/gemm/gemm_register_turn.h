// Whether the variant "register" computes C or its transpose, op(B)' * op(A)'.
#pragma once

#include <cstdint>

#include <tessera/ops/gemm.h>

namespace tessera::cpu_tbb {

enum class Turn {
  none,
  column,  ///< C is one column without gaps, and its transpose a row in the same memory
  whole    ///< a block's sums are kept in scratch memory and turned when they are stored
};
[[nodiscard]] Turn turn_of(const Gemm& problem);

/// The estimated times with B transposed, in nanoseconds of one thread, for C as it is and turned.
struct TurnTimes {
  double straight = 0;
  double turned = 0;
};
[[nodiscard]] TurnTimes turn_times(const Gemm& problem);

}  // namespace tessera::cpu_tbb
