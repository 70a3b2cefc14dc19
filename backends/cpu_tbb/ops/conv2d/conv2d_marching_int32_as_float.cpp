// Rows of a strip of int32 that are computed in float, exactly because they are small, compiled for every instruction
// set from SSE to AVX-512 and chosen when it runs. They become int32 again, or, for separable's first pass, stay float.
#include "ops/conv2d/conv2d_marching_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/conv2d_marching_int32_as_float.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "ops/conv2d/conv2d_marching_rows.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace conv2d_marching_int32_as_float {

bool march_int32_as_float_to_float(const MarchingRows<Int32AsFloat, float>& rows) {
  return march_in_steps(rows);
}
bool march_int32_as_float(const MarchingRows<Int32AsFloat, std::int32_t>& rows) {
  return march_in_steps(rows);
}

}  // namespace conv2d_marching_int32_as_float
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(march_int32_as_float_to_float);
HWY_EXPORT(march_int32_as_float);

bool march(const MarchingRows<Int32AsFloat, float>& rows) {
  return HWY_DYNAMIC_DISPATCH(march_int32_as_float_to_float)(rows);
}
bool march(const MarchingRows<Int32AsFloat, std::int32_t>& rows) {
  return HWY_DYNAMIC_DISPATCH(march_int32_as_float)(rows);
}

}  // namespace tessera::cpu_tbb
#endif
