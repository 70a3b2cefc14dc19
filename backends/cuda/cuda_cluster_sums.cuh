// How the blocks of a cluster bring numbers together in shared memory. Each block sets its word to 0 before the first
// barrier; between two barriers any thread may raise or add to a word of any block; behind the second one it is read.
// Only for operations whose order does not matter, so that the result is the same on every run. Before sm_90 there are
// no clusters, and all of this is about the block itself.
#pragma once

namespace tessera::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr bool kHasClusters = false;
#else
inline constexpr bool kHasClusters = true;
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

/// The two halves of a barrier of all threads of the cluster.
__device__ __forceinline__ void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void wait_for_cluster_arrivals() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The word that lies there in a block of the cluster becomes the larger of itself and `value`.
__device__ __forceinline__ void raise_at_block(const unsigned* word, unsigned block, unsigned value) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "red.relaxed.cluster.shared::cluster.max.u32 [there], %2;\n"
      "}" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(word))),
      "r"(block), "r"(value)
      : "memory");
}
/// `value` is added to it.
__device__ __forceinline__ void add_at_block(const unsigned* word, unsigned block, unsigned value) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "red.relaxed.cluster.shared::cluster.add.u32 [there], %2;\n"
      "}" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(word))),
      "r"(block), "r"(value)
      : "memory");
}

#elif defined(__CUDA_ARCH__)

__device__ __forceinline__ void arrive_at_cluster() {}
__device__ __forceinline__ void wait_for_cluster_arrivals() {
  __syncthreads();
}
__device__ __forceinline__ void raise_at_block(unsigned* word, unsigned /*block*/, unsigned value) {
  atomicMax(word, value);
}
__device__ __forceinline__ void add_at_block(unsigned* word, unsigned /*block*/, unsigned value) {
  atomicAdd(word, value);
}

#endif

}  // namespace tessera::cuda
