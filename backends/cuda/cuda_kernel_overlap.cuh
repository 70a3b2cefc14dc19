// How a kernel begins while the one before it on the stream still runs (LaunchGrid::overlaps): it is sent to the card
// early and waits there. Before sm_90 no kernel overlaps another, and both functions do nothing.
#pragma once

namespace tessera::cuda {

/// The next kernel of the stream, if it is launched so that it may, is sent to free multiprocessors while this one
/// runs.
__device__ __forceinline__ void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Until the kernel before on the stream has ended and what it wrote is seen. Stands before the first access to memory.
__device__ __forceinline__ void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace tessera::cuda
