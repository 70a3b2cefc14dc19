// The launch of the kernel that adds up what groups along k have each computed of C; for the variants register and
// thin.
#pragma once

#include "cuda_queue.h"
#include "ops/gemm/gemm_register_arguments.h"

namespace tessera::cuda {

/// Fills in how threads share the work, and launches `function`. `add` holds all else.
template <class T>
void launch_gemm_add(CudaQueue& queue, CUfunction function, GemmAddArguments<T> add, const DeviceLimits& card);

}  // namespace tessera::cuda
