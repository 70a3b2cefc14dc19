// What Hopper's warp groups, four warps of 32 work-items that start at a multiple of four, ask of NVIDIA's instructions,
// whatever they multiply: products that go on while the work-items do, copies of whole pieces of memory into local memory,
// and the barriers on which they are waited for.
//
// NVIDIA's driver compiles OpenCL for sm_90, whose PTX has no such products. So they are lines that are comments until the
// host makes PTX for sm_90a of them (opencl_ptx.h).
//
// Compiles alone with: -target nvptx64 -fgnu-keywords
#include "ops/nvidia_warp.cl"

#define ON_SM_90A(line) "//sm_90a " line "\n"

// An operand of a product in local memory, but for its address, which is added in sixteenths: chunks of 16 bytes of a row
// lie as far apart as `rows` of them, groups of eight rows 128 bytes.
#define OPERAND_LOW_OF(rows) ((uint)(rows)*CHUNK_BYTES / 16 << 16)
#define OPERAND_HIGH (128u >> 4)

// Before a group's first products, and after other code has touched what they take or add to.
ALWAYS_INLINE void begin_products(void) {
  asm volatile(ON_SM_90A("wgmma.fence.sync.aligned;")::: "memory");
}
// Products since the last call belong together.
ALWAYS_INLINE void close_products(void) {
  asm volatile(ON_SM_90A("wgmma.commit_group.sync.aligned;")::: "memory");
}
// Until all such groups have ended, or all but the last.
ALWAYS_INLINE void wait_for_products(void) {
  asm volatile(ON_SM_90A("wgmma.wait_group.sync.aligned 0;")::: "memory");
}
ALWAYS_INLINE void wait_for_products_before(void) {
  asm volatile(ON_SM_90A("wgmma.wait_group.sync.aligned 1;")::: "memory");
}

// Barriers are 8 bytes of local memory, known by their addresses. So many arrivals end a phase, when all bytes have come.
ALWAYS_INLINE void begin_barrier(const uint at, const uint arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory");
}
ALWAYS_INLINE void arrive(const uint at) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}
// Behind the initialisation of all barriers.
ALWAYS_INLINE void publish_barriers(void) {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Until the phase of this parity has ended; the first one's is 0.
ALWAYS_INLINE void wait_for_phase(const uint at, const uint parity) {
  asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra over;\n"
               "bra again;\nover:\n}" ::"r"(at),
               "r"(parity)
               : "memory");
}
// True in one of a warp's lanes, which is the same one each time: it tells the compiler that one lane at most does what
// follows, so that a copy's addresses need no loop over lanes.
ALWAYS_INLINE int elects(void) {
  int mine;
  asm volatile("{\n.reg .pred mine;\nelect.sync _|mine, 0xffffffff;\nselp.s32 %0, 1, 0, mine;\n}" : "=r"(mine));
  return mine;
}
// Starts a copy, on whose bytes the barrier's phase waits. All numbers are multiples of 16.
ALWAYS_INLINE void start_bulk_copy(const uint to, __global const uchar* from, const uint bytes, const uint barrier_at) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%3], %2;\n"
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier_at)
               : "memory");
}
// Counts by one; returns what was counted before.
ALWAYS_INLINE int count_one(const uint at) {
  int before;
  asm volatile("atom.shared.add.s32 %0, [%1], 1;" : "=r"(before) : "r"(at) : "memory");
  return before;
}
// The work-items of a warp group wait for each other. Groups have numbers from 1 on; 0 is that of all.
ALWAYS_INLINE void wait_for_warp_group(const int number) {
  asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory");
}
