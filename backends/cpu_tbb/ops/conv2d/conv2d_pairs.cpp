// Turns pixels into pairs of 16 bits for the march, and says where pairs pay. See conv2d_source_rows.h.
#include <cstdint>

#include "cpu_tbb_instruction_set.h"
#include "ops/conv2d/conv2d_marching_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv2d/conv2d_pairs.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace conv2d_pairs {

namespace hn = hwy::HWY_NAMESPACE;

bool pair_up(const std::uint32_t* pixels, std::int64_t count, Int16Pair* lower, Int16Pair* upper) {
  const hn::ScalableTag<std::uint32_t> d;
  const auto low_half = hn::Set(d, 0xffffU);
  const auto high_half = hn::Set(d, 0xffff0000U);
  const auto round = hn::Set(d, 0x8000U);
  auto any = hn::Zero(d);
  for (std::int64_t x = 0; x < count; x += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto here = hn::LoadU(d, pixels + x);
    const auto next = hn::LoadU(d, pixels + x + 1);
    hn::StoreU(hn::Or(hn::And(here, low_half), hn::ShiftLeft<16>(next)), d,
               reinterpret_cast<std::uint32_t*>(lower) + x);
    if (upper == nullptr) continue;
    const auto pair = hn::Or(hn::ShiftRight<16>(hn::Add(here, round)), hn::And(hn::Add(next, round), high_half));
    hn::StoreU(pair, d, reinterpret_cast<std::uint32_t*>(upper) + x);
    any = hn::Or(any, pair);
  }
  return !hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}

}  // namespace conv2d_pairs
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(pair_up);

bool has_fast_pairs() {
  return has_vnni();
}
bool make_pairs(const std::uint32_t* pixels, std::int64_t count, Int16Pair* lower, Int16Pair* upper) {
  return HWY_DYNAMIC_DISPATCH(pair_up)(pixels, count, lower, upper);
}

}  // namespace tessera::cpu_tbb
#endif
