// The launch of the kernel that adds up what groups along k have each computed of C; for the variants register and
// thin.
#pragma once

#include <cstdint>

#include "cuda_queue.h"
#include "mathematics/division.h"
#include "ops/gemm/gemm_register_arguments.h"

namespace tessera::cuda {

/// Elements of a row of a part: a multiple of four, so that it is written and read 16 bytes at a time, but for few
/// columns.
[[nodiscard]] constexpr std::int64_t gemm_part_row(std::int64_t n) {
  return n < 4 ? n : mathematics::round_up(n, std::int64_t{4});
}

/// Fills in how threads share the work, and launches `function`. `add` holds all else.
template <class T>
void launch_gemm_add(CudaQueue& queue, CUfunction function, GemmAddArguments<T> add, const DeviceLimits& card);

}  // namespace tessera::cuda
