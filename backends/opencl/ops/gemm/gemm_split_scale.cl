// gemm, split: powers of two, by which rows are scaled before they are rounded to fp16, and sums scaled back.
//
//   exponent   -126 ... 127      a float32 that is normal: one factor
//              -253 ... 254      two factors, of which the first goes as far as it can
//
// Compiles alone with: nothing
static inline float power_of_two(const int exponent) {
  return as_float((exponent + 127) << 23);
}
// 2^exponent, cut to the exponents of normal numbers.
static inline float near_power_of_two(const int exponent) {
  return as_float((max(-126, min(127, exponent)) + 127) << 23);
}
// sum * 2^-shift; shifts of two rows together need two factors.
static inline float scaled_back(const float sum, const int shift) {
  const int half_of_it = max(-126, min(127, -shift));
  return sum * near_power_of_two(half_of_it) * near_power_of_two(-shift - half_of_it);
}
