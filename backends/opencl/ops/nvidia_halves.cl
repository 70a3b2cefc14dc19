// Products of fp16 by NVIDIA's tensor cores, for 32 work-items together (a warp), and numbers of fp16 for devices that do
// not know the type. From sm_80 on. Products are exact; their sums in float32 are cut off, not rounded.
//
//   lane 4 g + t holds       A, 16 rows x 16                  B, 16 x 8 columns             sums, 16 x 8
//                            of rows g and g + 8 the steps    the steps 2 t and 2 t + 1     of rows g and g + 8 the
//                            2 t and 2 t + 1, and both of     of column g, and 8 later      columns 2 t and 2 t + 1
//                            them 8 later; two in a word
//
// Volatile, so that they stay in the order in which they are written: what follows each other shares A, and does not wait
// for the one before.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords
#include "ops/nvidia_warp.cl"

// Sums from nothing, and on top of what there is.
ALWAYS_INLINE void begin_16x8(float sums[4], const uint4 a, const uint2 b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %10, %10, %10};"
      : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "f"(0.0f));
}
ALWAYS_INLINE void multiply_16x8(float sums[4], const uint4 a, const uint2 b) {
  float s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

// Two numbers, rounded to the nearest, in a word, the first in its lower half; and back.
ALWAYS_INLINE uint pair_of(const float first, const float second) {
  uint pair;
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(first), "f"(second));
  return pair;
}
ALWAYS_INLINE float first_of(const uint pair) {
  float first;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }" : "=f"(first) : "r"(pair));
  return first;
}
ALWAYS_INLINE float second_of(const uint pair) {
  float second;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }" : "=f"(second) : "r"(pair));
  return second;
}

// Two numbers that were read before, so that nothing is copied. The first of them is given, so that they are not read
// earlier.
ALWAYS_INLINE void read_again(float *first, float *second, __local const float *from, const float before) {
  float one, other;
  asm("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(one), "=f"(other) : "r"((uint)(size_t)from), "f"(before));
  *first = one;
  *second = other;
}
