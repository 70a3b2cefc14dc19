// denoise, columns: four numbers times Haar's or the DCT's matrix, and back, a patch's planes along x and y, and along z,
// and what is done with the coefficients of a stack. See denoise_columns.cl.
//
// Results are the definition's (docs/decisions/0019) in fewer operations: products with 0 and additions of it change
// nothing, and a half of a number is exact, so that it may be taken before or after an addition, or within a fused one,
// which rounds once like the addition alone. Numbers so small that their half is not exact may differ, but they are lost
// wherever they meet a threshold, a variance or an estimate's unit: the host sees to these.
//
// Compiles alone with: -DTYPE=0 -DPLACES=16 -DWIENER=0 -DUNROLL=1 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=2 -DPLACES=32 -DWIENER=1 -DUNROLL=0 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
#include "ops/denoise/denoise_volume.cl"
#include "ops/float_ratio.cl"

#if UNROLL
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("unroll 1")
#endif
#define VOXELS 64
#define MEMBERS 4  // of a stack, that a work-item has in its registers

// A number as it is rounded. Intel's compiler for processors has its own way where loops are unrolled, of Haar's
// (a + b) * c and (a - b) * c for one, whatever the pragma in denoise_volume.cl says; so there numbers go through memory.
// Processors have no use for this program but to test it.
static inline float rounded(const float number) {
#if UNROLL
  return number;
#else
  volatile float kept = number;
  return kept;
#endif
}

static inline float4 rounded4(const float4 numbers) {
  return (float4)(rounded(numbers.s0), rounded(numbers.s1), rounded(numbers.s2), rounded(numbers.s3));
}

#if WIENER
// Rows 1 and 3 of the DCT of four, as the host computes them.
#define LARGE 0.653281482438188264f
#define SMALL 0.270598050073098492f

static inline float4 forward_of_four(const float4 x) {
  const float4 large = rounded4(LARGE * x);
  const float4 small = rounded4(SMALL * x);
  const float first = ((x.s0 + x.s1) + x.s2) + x.s3;
  const float third = ((x.s0 - x.s1) - x.s2) + x.s3;
  const float second = ((large.s0 + small.s1) - small.s2) - large.s3;
  const float fourth = ((small.s0 - large.s1) + large.s2) - small.s3;
  return (float4)(0.5f * first, second, 0.5f * third, fourth);
}
static inline float4 back_of_four(const float4 y) {
  const float4 large = rounded4(LARGE * y);
  const float4 small = rounded4(SMALL * y);
  return (float4)(fma(0.5f, y.s2, fma(0.5f, y.s0, large.s1)) + small.s3,
                  fma(-0.5f, y.s2, fma(0.5f, y.s0, small.s1)) - large.s3,
                  fma(-0.5f, y.s2, fma(0.5f, y.s0, -small.s1)) + large.s3,
                  fma(0.5f, y.s2, fma(0.5f, y.s0, -large.s1)) - small.s3);
}
#else
// Haar's rows 2 and 3.
#define FINE 0.70710678118654752440f

static inline float4 forward_of_four(const float4 x) {
  const float4 fine = rounded4(FINE * x);
  const float sum = x.s0 + x.s1;
  const float first = (sum + x.s2) + x.s3;
  const float second = (sum - x.s2) - x.s3;
  return (float4)(0.5f * first, 0.5f * second, fine.s0 - fine.s1, fine.s2 - fine.s3);
}
static inline float4 back_of_four(const float4 y) {
  const float4 fine = rounded4(FINE * y);
  const float sum = y.s0 + y.s1;
  const float difference = y.s0 - y.s1;
  return (float4)(fma(0.5f, sum, fine.s2), fma(0.5f, sum, -fine.s2), fma(0.5f, difference, fine.s3),
                  fma(0.5f, difference, -fine.s3));
}
#endif

// A plane of a patch along x and y.
#define PLANE_AXIS(BEGIN, APART, transform)                                                                          \
  UNROLLED for (int line = 0; line < 4; ++line) {                                                                    \
    float* const at = plane + line * (BEGIN);                                                                        \
    const float4 four = transform((float4)(at[0], at[APART], at[2 * (APART)], at[3 * (APART)]));                     \
    at[0] = four.s0;                                                                                                 \
    at[APART] = four.s1;                                                                                             \
    at[2 * (APART)] = four.s2;                                                                                       \
    at[3 * (APART)] = four.s3;                                                                                       \
  }
static inline void transform_plane(float* plane) {
  PLANE_AXIS(4, 1, forward_of_four)
  PLANE_AXIS(1, 4, forward_of_four)
}
static inline void transform_plane_back(float* plane) {
  PLANE_AXIS(4, 1, back_of_four)
  PLANE_AXIS(1, 4, back_of_four)
}
// Along z: the planes of each of MEMBERS patches, one patch after the other.
static inline void transform_planes(float* numbers) {
  UNROLLED for (int m = 0; m < MEMBERS; ++m) {
    float* const at = numbers + 4 * m;
    const float4 four = forward_of_four((float4)(at[0], at[1], at[2], at[3]));
    at[0] = four.s0;
    at[1] = four.s1;
    at[2] = four.s2;
    at[3] = four.s3;
  }
}

// Keeps coefficients above the threshold; how many of them.
static inline uint keep_large(const float threshold, float* numbers) {
  uint kept = 0;
  UNROLLED for (int m = 0; m < 4 * MEMBERS; ++m) {
    const int is_kept = fabs(numbers[m]) > threshold;
    numbers[m] = is_kept ? numbers[m] : 0.0f;
    kept += is_kept;
  }
  return kept;
}

// Coefficients of the basic estimate become factors; their squares as whole numbers, together.
static inline uint wiener_factors(const float variance, float* numbers) {
  uint energy = 0;
  UNROLLED for (int m = 0; m < 4 * MEMBERS; ++m) {
    const float square = rounded(numbers[m] * numbers[m]);
    numbers[m] = float_ratio(square, square + variance);
    energy += convert_int_rte(numbers[m] * numbers[m] * WEIGHT_UNITS);
  }
  return energy;
}
