// Each vector of the total stays in a register while the parts are added to it, so that every sum is read once, from
// the cache, and written once. Compiled once for every instruction set.
#include "ops/gemm/gemm_split_k_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm/gemm_split_k_sums.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_split_k_sums {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void add_any(const T* parts, std::int64_t part_step, std::int64_t part_count, std::int64_t count, T* total) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    auto sum = hn::LoadU(d, parts + i);
    for (std::int64_t part = 1; part < part_count; ++part)
      sum = hn::Add(sum, hn::LoadU(d, parts + part * part_step + i));
    hn::StoreU(sum, d, total + i);
  }
}

void add_float32(const float* parts, std::int64_t part_step, std::int64_t part_count, std::int64_t count,
                 float* total) {
  add_any(parts, part_step, part_count, count, total);
}
void add_float64(const double* parts, std::int64_t part_step, std::int64_t part_count, std::int64_t count,
                 double* total) {
  add_any(parts, part_step, part_count, count, total);
}

}  // namespace gemm_split_k_sums
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(add_float32);
HWY_EXPORT(add_float64);

template <>
void add_parts(const float* parts, std::int64_t part_step, std::int64_t part_count, std::int64_t count, float* total) {
  HWY_DYNAMIC_DISPATCH(add_float32)(parts, part_step, part_count, count, total);
}
template <>
void add_parts(const double* parts, std::int64_t part_step, std::int64_t part_count, std::int64_t count,
               double* total) {
  HWY_DYNAMIC_DISPATCH(add_float64)(parts, part_step, part_count, count, total);
}

}  // namespace tessera::cpu_tbb
#endif
