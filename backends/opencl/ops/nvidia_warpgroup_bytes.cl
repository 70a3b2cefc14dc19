// Products of bytes by Hopper's warp groups, whose one operand comes from registers and whose other one from local memory.
//
//   A, of registers: 64 rows x 32 bytes             B, of local memory: 128 rows x 32 bytes
//   warp w of the group has the rows 16 w .. + 15,  chunk 0 (16 bytes) of all rows, then chunk 1 of all rows: eight rows'
//   lane 4 g + t of them rows g and g + 8:          chunks are 128 bytes that lie together
//     bytes 4 t .. + 3, and 16 later
//   sums[4 j + 0], [4 j + 1]   row g of A, rows 8 j + 2 t and + 1 of B
//   sums[4 j + 2], [4 j + 3]   row g + 8, the same rows of B
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DSTAGES=7
#include "ops/nvidia_warpgroup.cl"

#define SUMS 64
#define STEP_BYTES 32
#define OPERAND_ROWS 128
#define OPERAND_LOW OPERAND_LOW_OF(OPERAND_ROWS)

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
