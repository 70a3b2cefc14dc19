// Copies from device to shared memory that pass no register and that a thread need not wait for (cp.async). They came
// with sm_80; before, a caller finds kAsynchronousCopies false and brings what it needs through registers.
#pragma once

namespace tessera::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool kAsynchronousCopies = false;
#else
inline constexpr bool kAsynchronousCopies = true;
#endif

/// Starts copying `bytes` (0 to kBytes) to shared memory, and fills the rest of kBytes with 0.
template <int kBytes>
__device__ __forceinline__ void copy_asynchronously(void* shared, const void* source, int bytes) {
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(source), "n"(kBytes), "r"(bytes)
                 : "memory");
  }
}

/// What this thread started since the last call is one group. Groups arrive in order.
__device__ __forceinline__ void close_group() {
  if constexpr (kAsynchronousCopies) asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until all but the last kPending groups of this thread have arrived.
template <int kPending>
__device__ __forceinline__ void wait_for_groups() {
  if constexpr (kAsynchronousCopies) asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace tessera::cuda
