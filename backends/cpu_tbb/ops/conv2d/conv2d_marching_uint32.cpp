// Rows of a strip in uint32, whose sums wrap around as those of int32 must, compiled for every instruction set from SSE
// to AVX-512 and chosen when it runs.
#include "ops/conv2d/conv2d_marching_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/conv2d_marching_uint32.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "ops/conv2d/conv2d_marching_rows.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace conv2d_marching_uint32 {

std::int64_t rows_together() {
  return kRows;
}
void march_uint32(const MarchingRows<std::uint32_t, std::uint32_t>& rows) {
  march_in_steps(rows);
}

}  // namespace conv2d_marching_uint32
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(rows_together);
HWY_EXPORT(march_uint32);

std::int64_t marching_rows() {
  return HWY_DYNAMIC_DISPATCH(rows_together)();
}
void march(const MarchingRows<std::uint32_t, std::uint32_t>& rows) {
  HWY_DYNAMIC_DISPATCH(march_uint32)(rows);
}

}  // namespace tessera::cpu_tbb
#endif
