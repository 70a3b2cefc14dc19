// The tensor cores' instructions: products of small matrices, spread over the lanes of a warp. Lane 4 g + t holds:
//
//                 A, 16 rows x k                       B, k x 8 columns             sums, 16 x 8
//   float64  k 4  rows g and g + 8 of step t           step t of column g           of rows g and g + 8 the columns
//   uint8    k 32 of these rows the steps 4 t .. + 3   steps 4 t .. + 3 of column   2 t and 2 t + 1
//                 and 16 later, four in a word         g, and 16 later
//   fp16     k 16 of these rows the steps 2 t, 2 t + 1 steps 2 t, 2 t + 1 of column
//                 and 8 later, two in a word           g, and 8 later
//
// float64 is multiplied without any rounding but that of a fused multiply-add, whole numbers wrap around. Products of
// fp16 are exact, and their sums in float32 are cut off, not rounded; they are for sm_80 and newer.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// Adds the products of one instruction's worth of A and B to the sums of a 16 x 8 tile, spread as above.
__device__ __forceinline__ void multiply_16x8(double (&sum)[4], double a0, double a1, double b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(a0), "d"(a1), "d"(b));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sum[0]), "+d"(sum[1])
      : "d"(a0), "d"(b));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sum[2]), "+d"(sum[3])
      : "d"(a1), "d"(b));
#else
  constexpr unsigned kAllLanes = 0xffffffffU;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    const double b0 = __shfl_sync(kAllLanes, b, lane % 4 * 8 + t);
    const double b1 = __shfl_sync(kAllLanes, b, lane % 4 * 8 + 4 + t);
    const double upper = __shfl_sync(kAllLanes, a0, lane / 4 * 4 + t);
    const double lower = __shfl_sync(kAllLanes, a1, lane / 4 * 4 + t);
    sum[0] += upper * b0;
    sum[1] += upper * b1;
    sum[2] += lower * b0;
    sum[3] += lower * b1;
  }
#endif
}

/// The same of bytes, whose products are exact.
__device__ __forceinline__ void multiply_16x8(int (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  // sm_75 multiplies 8 x 16 by 16 x 8, spread in the same way.
  const auto multiply_8x8 = [](int& left, int& right, unsigned a_word, unsigned b_word) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(left), "+r"(right)
        : "r"(a_word), "r"(b_word));
  };
  multiply_8x8(sum[0], sum[1], a[0], b0);
  multiply_8x8(sum[2], sum[3], a[1], b0);
  multiply_8x8(sum[0], sum[1], a[2], b1);
  multiply_8x8(sum[2], sum[3], a[3], b1);
#endif
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
/// The same of fp16, words of A in the order of rows g and g + 8, and then both 8 steps later. Volatile, so that they
/// stay in the order in which they are written: what follows each other shares A and does not wait for the one before.
__device__ __forceinline__ void multiply_16x8(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// The same where there are no sums yet.
__device__ __forceinline__ void begin_16x8(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, "
      "%10, %10};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0f));
}
#endif

/// Four matrices of 8 rows x 16 bytes from shared memory. Lane i brings the address of row i % 8 of matrix i / 8, a
/// multiple of 16, and gets, of row g of each matrix, the bytes 4 t .. + 3.
__device__ __forceinline__ void load_matrices(unsigned (&words)[4], const void* row) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory");
}

}  // namespace tessera::cuda
