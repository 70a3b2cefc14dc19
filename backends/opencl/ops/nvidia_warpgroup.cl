// What Hopper's warp groups, four warps of 32 work-items that start at a multiple of four, ask of NVIDIA's instructions:
// products of bytes whose one operand comes from registers and whose other one from local memory, while the work-items
// go on; copies of whole pieces of memory into local memory; and the barriers on which they are waited for.
//
//   A, of registers: 64 rows x 32 bytes             B, of local memory: 128 rows x 32 bytes
//   warp w of the group has the rows 16 w .. + 15,  chunk 0 (16 bytes) of all rows, then chunk 1 of all rows: eight rows'
//   lane 4 g + t of them rows g and g + 8:          chunks are 128 bytes that lie together
//     bytes 4 t .. + 3, and 16 later
//   sums[4 j + 0], [4 j + 1]   row g of A, rows 8 j + 2 t and + 1 of B
//   sums[4 j + 2], [4 j + 3]   row g + 8, the same rows of B
//
// NVIDIA's driver compiles OpenCL for sm_90, whose PTX has no such products. So they are lines that are comments until the
// host makes PTX for sm_90a of them (opencl_ptx.h).
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DSTAGES=7
#include "ops/nvidia_warp.cl"

#define ON_SM_90A(line) "//sm_90a " line "\n"

#define SUMS 64
#define STEP_BYTES 32
#define OPERAND_ROWS 128

// An operand in local memory, but for its address, which is added in sixteenths: chunks lie 128 * 16 bytes apart, groups of
// eight rows 128 bytes.
#define OPERAND_LOW ((uint)OPERAND_ROWS * CHUNK_BYTES / 16 << 16)
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

// An instruction names each of its sums twice: as a register in its text and as an operand behind that.
#define REGISTERS                                                                                                  \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
  "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, %65, %66, %67}"
#define SUMS_4(how, i) how(sums[i]), how(sums[(i) + 1]), how(sums[(i) + 2]), how(sums[(i) + 3])
#define SUMS_16(how, i) SUMS_4(how, i), SUMS_4(how, (i) + 4), SUMS_4(how, (i) + 8), SUMS_4(how, (i) + 12)
#define ALL_SUMS(how) SUMS_16(how, 0), SUMS_16(how, 16), SUMS_16(how, 32), SUMS_16(how, 48)
#define MULTIPLY(adds)                                                                                                  \
  ON_SM_90A("{ .reg .pred adds; .reg .b64 operand; setp." adds ".b32 adds, 0, 0; mov.b64 operand, {%68, %69};")         \
  ON_SM_90A("wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 " REGISTERS ", operand, adds; }")

// Starts a step's first products: what the sums were before does not count, and their registers are free until then.
ALWAYS_INLINE void multiply_first(int sums[SUMS], const uint a[4], const uint b) {
  asm volatile(MULTIPLY("ne")
               : ALL_SUMS("=r")
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(OPERAND_HIGH));
}
// Starts those of the next steps, which are added.
ALWAYS_INLINE void multiply_next(int sums[SUMS], const uint a[4], const uint b) {
  asm volatile(MULTIPLY("eq")
               : ALL_SUMS("+r")
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(OPERAND_HIGH));
}
// The compiler must not move what reads sums before this.
ALWAYS_INLINE void hold(int sums[SUMS]) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) asm volatile("" : "+r"(sums[i])::"memory");
}

// Barriers are 8 bytes of local memory, known by their addresses. One arrival ends a phase, when all bytes have come.
ALWAYS_INLINE void begin_barrier(const uint at) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
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
