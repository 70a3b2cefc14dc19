// Rows of a strip that are float already, or were made so from 8 or 16 bits, compiled for every instruction set from
// SSE to AVX-512 and chosen when it runs.
#include "ops/conv2d/conv2d_marching_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/conv2d_marching_float.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "ops/conv2d/conv2d_marching_rows.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace conv2d_marching_float {

void march_float(const MarchingRows<float, float>& rows) {
  march_in_steps(rows);
}
void march_float_to_int(const MarchingRows<float, std::int32_t>& rows) {
  march_in_steps(rows);
}

}  // namespace conv2d_marching_float
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(march_float);
HWY_EXPORT(march_float_to_int);

void march(const MarchingRows<float, float>& rows) {
  HWY_DYNAMIC_DISPATCH(march_float)(rows);
}
void march(const MarchingRows<float, std::int32_t>& rows) {
  HWY_DYNAMIC_DISPATCH(march_float_to_int)(rows);
}

}  // namespace tessera::cpu_tbb
#endif
