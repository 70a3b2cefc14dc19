// Products of fp16 by Hopper's warp groups, whose one operand comes from registers and whose other one from local memory.
// They are exact; their sums in float32 are cut off, not rounded. Option: OPERAND_ROWS of the latter, 64 or 128.
//
//   A, of registers: 64 rows x 16 steps             B, of local memory: OPERAND_ROWS x 16 steps
//   warp w of the group has the rows 16 w .. + 15   chunk 0 (8 steps) of all rows, then chunk 1 of all rows: eight rows'
//   as nvidia_halves.cl draws them                  chunks are 128 bytes that lie together
//   sums[4 j + 0], [4 j + 1]   row g of A, rows 8 j + 2 t and + 1 of B
//   sums[4 j + 2], [4 j + 3]   row g + 8, the same rows of B
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DOPERAND_ROWS=64
// Compiles alone with: -target nvptx64 -fgnu-keywords -DOPERAND_ROWS=128
#include "ops/nvidia_warpgroup.cl"

#define SUMS (OPERAND_ROWS / 2)
#define OPERAND_LOW OPERAND_LOW_OF(OPERAND_ROWS)

#define SUMS_4(how, i) how(sums[i]), how(sums[(i) + 1]), how(sums[(i) + 2]), how(sums[(i) + 3])
#define SUMS_16(how, i) SUMS_4(how, i), SUMS_4(how, (i) + 4), SUMS_4(how, (i) + 8), SUMS_4(how, (i) + 12)
// An instruction names each of its sums twice: as a register in its text and as an operand behind that.
#if OPERAND_ROWS == 128
#define ALL_SUMS(how) SUMS_16(how, 0), SUMS_16(how, 16), SUMS_16(how, 32), SUMS_16(how, 48)
#define SHAPE "m64n128k16"
#define OPERAND "{%68, %69}"
#define REGISTERS                                                                                                     \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "        \
  "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "         \
  "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, "       \
  "%65, %66, %67}"
#elif OPERAND_ROWS == 64
#define ALL_SUMS(how) SUMS_16(how, 0), SUMS_16(how, 16)
#define SHAPE "m64n64k16"
#define OPERAND "{%36, %37}"
#define REGISTERS                                                                                                     \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "        \
  "%23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}"
#else
#error "no such product is written here"
#endif
#define MULTIPLY(adds)                                                                                               \
  ON_SM_90A("{ .reg .pred adds; .reg .b64 operand; setp." adds ".b32 adds, 0, 0; mov.b64 operand, " OPERAND ";")     \
  ON_SM_90A("wgmma.mma_async.sync.aligned." SHAPE ".f32.f16.f16 " REGISTERS ", operand, adds, 1, 1, 0; }")

// Starts products: what the sums were before does not count. `b`: OPERAND_LOW and the operand's address.
ALWAYS_INLINE void multiply_first(float sums[SUMS], const uint4 a, const uint b) {
  asm volatile(MULTIPLY("ne") : ALL_SUMS("=f") : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b), "r"(OPERAND_HIGH));
}
// Starts those that are added.
ALWAYS_INLINE void multiply_next(float sums[SUMS], const uint4 a, const uint b) {
  asm volatile(MULTIPLY("eq") : ALL_SUMS("+f") : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b), "r"(OPERAND_HIGH));
}
// The compiler must not move what reads sums before this.
ALWAYS_INLINE void hold(float sums[SUMS]) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}
