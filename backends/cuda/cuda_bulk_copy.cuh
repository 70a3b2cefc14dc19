// Hopper's copies of whole pieces of memory into shared memory, of which one thread asks for many kilobytes, and the
// barriers in shared memory on which they are waited for. Two blocks of a cluster may each fetch a half of what both
// need: a copy goes to the same place in both, and is counted by both blocks' barriers.
//
//   arm(barrier, bytes)      ->  copy ... copy  ->  wait(barrier, phase)  ->  work  ->  arrive(barrier of what is free)
//   one thread, one arrival      any thread         everybody                           a thread of each warp
//
// A barrier's phases are waited for by their parity: the first one is 0.
#pragma once

#include <cstdint>

namespace tessera::cuda {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TESSERA_CUDA_IS_HOPPER 1
#endif

#if defined(TESSERA_CUDA_IS_HOPPER)

/// In shared memory, 8 bytes.
struct SharedBarrier {
  std::uint64_t word;
};

__device__ __forceinline__ unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// A phase ends after so many arrivals, when all bytes have come.
__device__ __forceinline__ void initialise(SharedBarrier& barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}
/// Behind the initialisation of all barriers, before any other thread or block sees them.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives, and lets the phase end no sooner than so many bytes have come.
__device__ __forceinline__ void arm(SharedBarrier& barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void arrive(SharedBarrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}
/// Where a block of the cluster has what lies there in this one.
__device__ __forceinline__ unsigned address_at_block(const void* shared, unsigned block) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(shared)), "r"(block));
  return there;
}
/// At the barrier at such an address. It orders nothing that the thread has written: it says that what a product or a
/// copy was to read has been read.
__device__ __forceinline__ void arrive_at(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrive_at_block(SharedBarrier& barrier, unsigned block) {
  arrive_at(address_at_block(&barrier, block));
}
/// Until the phase of this parity has ended.
__device__ __forceinline__ void wait(SharedBarrier& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

/// True in one of a warp's lanes, all of which call it. Unlike a lane's number it tells the compiler that one lane at
/// most does what follows, so that a copy's addresses need no loop over lanes.
__device__ __forceinline__ bool elects() {
  unsigned mine;
  asm volatile(
      "{\n"
      ".reg .pred mine;\n"
      "elect.sync _|mine, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, mine;\n"
      "}"
      : "=r"(mine));
  return mine != 0;
}

/// Both addresses and `bytes` are multiples of 16.
__device__ __forceinline__ void copy_bulk(void* shared, const void* source, unsigned bytes, SharedBarrier& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(shared)),
               "l"(source), "r"(bytes), "r"(shared_address(&barrier))
               : "memory");
}
/// The same, to every block of the cluster whose bit is set.
__device__ __forceinline__ void copy_bulk_to_blocks(void* shared, const void* source, unsigned bytes,
                                                    SharedBarrier& barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
      "%4;" ::"r"(shared_address(shared)),
      "l"(source), "r"(bytes), "r"(shared_address(&barrier)), "h"(blocks)
      : "memory");
}

/// A place in a ring of stages, and the parity of the phase that is waited for there.
template <int kPlaces>
struct RingPlace {
  int place = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++place < kPlaces) return;
    place = 0;
    parity ^= 1;
  }
};

__device__ __forceinline__ unsigned block_of_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// A barrier of all threads of the cluster.
__device__ __forceinline__ void synchronise_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

#endif  // TESSERA_CUDA_IS_HOPPER

}  // namespace tessera::cuda
