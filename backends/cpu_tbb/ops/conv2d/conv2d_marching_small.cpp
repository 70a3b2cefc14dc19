// Rows of a strip of small int32 in float, compiled for every instruction set from SSE to AVX-512 and chosen when it
// runs.
#include "ops/conv2d/conv2d_marching_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/conv2d_marching_small.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "ops/conv2d/conv2d_marching_rows.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {

bool march_small_to_float(const MarchingRows<Small, float>& rows) {
  return march_all(rows);
}
bool march_small(const MarchingRows<Small, std::int32_t>& rows) {
  return march_all(rows);
}

}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(march_small_to_float);
HWY_EXPORT(march_small);

bool march(const MarchingRows<Small, float>& rows) {
  return HWY_DYNAMIC_DISPATCH(march_small_to_float)(rows);
}
bool march(const MarchingRows<Small, std::int32_t>& rows) {
  return HWY_DYNAMIC_DISPATCH(march_small)(rows);
}

}  // namespace tessera::cpu_tbb
#endif
