// Plain loops with the filter's size known when they are compiled, once for every instruction set (Highway's choice):
//
//     sum = w00 * x[0] + w01 * x[1] + ... + w22 * x[2 * width + 2]      for neighbouring outputs at once
//
// The compiler unrolls both loops over the filter and computes neighbouring outputs together as one vector: 16 with
// AVX-512, 8 with AVX2, 4 with SSE4. For each tap it reads the pixels of a vector, and the weight unless that is in a
// register: 2 reads for a tap of 7 x 7, little more than 1 for a tap of 3 x 3. The instruction set is chosen at run
// time because the oldest x86-64 cannot multiply vectors of int32: compiled for that, int32 with 7 x 7 took ten times
// as long (4096 x 4096, one core of an Intel Xeon with AVX-512).
#include "ops/conv2d/conv2d_unrolled_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/conv2d_unrolled_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace conv2d_unrolled_kernel {

template <int kSide, class Pixel>
void convolve_side(const UnrolledRow<Pixel>& row) {
  using Sum = Conv2dSum<Pixel>;
  Sum w[kSide * kSide];
  for (int i = 0; i < kSide * kSide; ++i) w[i] = row.weights[i];
  const Pixel* sources[kSide];  // one address for each row of the filter, not for each tap
  for (int i = 0; i < kSide; ++i) sources[i] = row.source + i * row.width;
  const std::int64_t columns = row.columns;
  Conv2dOutput<Pixel>* const HWY_RESTRICT output = row.output;
  for (std::int64_t x = 0; x < columns; ++x) {
    Sum sum = 0;
#pragma GCC unroll 7
    for (int i = 0; i < kSide; ++i) {
#pragma GCC unroll 7
      for (int j = 0; j < kSide; ++j) sum += w[i * kSide + j] * conv2d_number<Sum>(sources[i][x + j]);
    }
    output[x] = static_cast<Conv2dOutput<Pixel>>(sum);
  }
}

template <class Pixel>
void convolve_any(std::int64_t filter_side, const UnrolledRow<Pixel>& row) {
  switch (filter_side) {
    case 3: return convolve_side<3>(row);
    case 5: return convolve_side<5>(row);
    default: return convolve_side<7>(row);
  }
}

void unrolled_uint8(std::int64_t filter_side, const UnrolledRow<std::uint8_t>& row) {
  convolve_any(filter_side, row);
}
void unrolled_int16(std::int64_t filter_side, const UnrolledRow<std::int16_t>& row) {
  convolve_any(filter_side, row);
}
void unrolled_int32(std::int64_t filter_side, const UnrolledRow<std::int32_t>& row) {
  convolve_any(filter_side, row);
}
void unrolled_float(std::int64_t filter_side, const UnrolledRow<float>& row) {
  convolve_any(filter_side, row);
}

}  // namespace conv2d_unrolled_kernel
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(unrolled_uint8);
HWY_EXPORT(unrolled_int16);
HWY_EXPORT(unrolled_int32);
HWY_EXPORT(unrolled_float);

void convolve_unrolled(std::int64_t filter_side, const UnrolledRow<std::uint8_t>& row) {
  HWY_DYNAMIC_DISPATCH(unrolled_uint8)(filter_side, row);
}
void convolve_unrolled(std::int64_t filter_side, const UnrolledRow<std::int16_t>& row) {
  HWY_DYNAMIC_DISPATCH(unrolled_int16)(filter_side, row);
}
void convolve_unrolled(std::int64_t filter_side, const UnrolledRow<std::int32_t>& row) {
  HWY_DYNAMIC_DISPATCH(unrolled_int32)(filter_side, row);
}
void convolve_unrolled(std::int64_t filter_side, const UnrolledRow<float>& row) {
  HWY_DYNAMIC_DISPATCH(unrolled_float)(filter_side, row);
}

}  // namespace tessera::cpu_tbb
#endif
