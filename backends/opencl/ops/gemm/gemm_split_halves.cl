// gemm, split: float32 as sums of two fp16. Option: NVIDIA, 1 where its instructions are to be had.
//
//   x = rounded + rest     11 bits each, and the sign of the rest one more: 2^-22 of x is left at most, unless the rest is
//                          below fp16's normal numbers
//
// Compiles alone with: -DNVIDIA=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DNVIDIA=1
// Two numbers rounded to fp16, the first in the lower half.
static inline uint to_halves(const float2 numbers) {
#if NVIDIA
  uint halves;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(numbers.y), "f"(numbers.x));
  return halves;
#else
  uint halves;
  vstore_half2_rte(numbers, 0, (half *)&halves);
  return halves;
#endif
}
static inline float2 of_halves(const uint halves) {
#if NVIDIA
  float x, y;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
      : "=f"(x), "=f"(y)
      : "r"(halves));
  return (float2)(x, y);
#else
  return vload_half2(0, (const half *)&halves);
#endif
}
