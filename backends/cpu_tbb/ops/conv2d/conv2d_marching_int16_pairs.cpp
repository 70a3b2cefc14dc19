// Rows of a strip in pairs of 16-bit numbers, for processors that multiply these (has_fast_pairs()): no other is asked
// to.
#include "ops/conv2d/conv2d_marching_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/conv2d_marching_int16_pairs.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "ops/conv2d/conv2d_marching_rows.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace conv2d_marching_int16_pairs {

void march_int16_pairs([[maybe_unused]] const MarchingRows<Int16Pair, std::int32_t>& rows) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  march_in_steps(rows);
#endif
}

}  // namespace conv2d_marching_int16_pairs
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(march_int16_pairs);

void march(const MarchingRows<Int16Pair, std::int32_t>& rows) {
  HWY_DYNAMIC_DISPATCH(march_int16_pairs)(rows);
}

}  // namespace tessera::cpu_tbb
#endif
