// Products of bytes by NVIDIA's tensor cores, for 32 work-items together (a warp), exact in 32 bits. From sm_80 on.
//
//   lane 4 g + t holds       A, 16 rows x 32 bytes           B, 32 bytes of 8 rows      sums, 16 x 8
//                            rows g and g + 8, the bytes     row g, the bytes 4 t ..    of rows g and g + 8 those with
//                            4 t .. + 3, and 16 later        + 3, and 16 later          B's rows 2 t and 2 t + 1
//
// Compiles alone with: -target nvptx64 -fgnu-keywords
#include "ops/nvidia_warp.cl"

// Adds the products of 16 rows of A and 8 of B.
ALWAYS_INLINE void multiply_16x8(int sums[4], const uint a[4], const uint b0, const uint b1) {
  int s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(s0), "+r"(s1), "+r"(s2), "+r"(s3)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}
