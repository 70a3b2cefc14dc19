// Sixteen stacks' coefficients between the transforms of their patches: the transform along the stack, what shrinks
// them, the way back, and the stacks' weights. Included once for every instruction set (Highway), by denoise_batch.cpp.
#if defined(TESSERA_DENOISE_SHRINK_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_DENOISE_SHRINK_H
#undef TESSERA_DENOISE_SHRINK_H
#else
#define TESSERA_DENOISE_SHRINK_H
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <hwy/highway.h>

#include "ops/denoise/denoise_batch.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace denoise_shrink {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, static_cast<std::size_t>(kBatchLanes)>;
using Words = hn::RebindToSigned<Floats>;
using F = hn::VFromD<Floats>;
using W = hn::VFromD<Words>;

HWY_INLINE std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(Floats()));
}

/// Haar's transform along a stack, in place: sums where the first of two was, differences where the second was.
template <int kMembers>
HWY_INLINE void haar(F* stack) {
  const F half = hn::Set(Floats(), 0.70710678118654752440F);
  for (int apart = 1; apart < kMembers; apart *= 2) {
    for (int i = 0; i < kMembers; i += 2 * apart) {
      const F a = stack[i];
      const F b = stack[i + apart];
      stack[i] = hn::Mul(hn::Add(a, b), half);
      stack[i + apart] = hn::Mul(hn::Sub(a, b), half);
    }
  }
}
template <int kMembers>
HWY_INLINE void haar_back(F* stack) {
  const F half = hn::Set(Floats(), 0.70710678118654752440F);
  for (int apart = kMembers / 2; apart >= 1; apart /= 2) {
    for (int i = 0; i < kMembers; i += 2 * apart) {
      const F a = stack[i];
      const F b = stack[i + apart];
      stack[i] = hn::Mul(hn::Add(a, b), half);
      stack[i + apart] = hn::Mul(hn::Sub(a, b), half);
    }
  }
}

template <int kMembers>
HWY_INLINE void load_members(const float* from, F* stack) {
  for (int m = 0; m < kMembers; ++m) stack[m] = hn::Load(Floats(), from + m * kBatchLanes);
}
template <int kMembers>
HWY_INLINE void store_members(const F* stack, float* to) {
  for (int m = 0; m < kMembers; ++m) hn::Store(stack[m], Floats(), to + m * kBatchLanes);
}

/// The hard threshold of one voxel's coefficients; returns how many are kept in each lane.
template <int kMembers>
HWY_INLINE W keep_large(float* coefficients, float threshold) {
  F stack[kMembers];
  load_members<kMembers>(coefficients, stack);
  haar<kMembers>(stack);
  W kept = hn::Zero(Words());
  for (int m = 0; m < kMembers; ++m) {
    const auto is_large = hn::Gt(hn::Abs(stack[m]), hn::Set(Floats(), threshold));
    stack[m] = hn::IfThenElseZero(is_large, stack[m]);
    kept = hn::Sub(kept, hn::VecFromMask(Words(), hn::RebindMask(Words(), is_large)));
  }
  haar_back<kMembers>(stack);
  store_members<kMembers>(stack, coefficients);
  return kept;
}

/// The Wiener filter of one voxel's coefficients; returns the sum of its factors' squares, as whole numbers.
template <int kMembers>
HWY_INLINE W weigh(float* coefficients, float* guide, float variance) {
  const Floats d;
  F stack[kMembers];
  load_members<kMembers>(guide, stack);
  haar<kMembers>(stack);
  W energy = hn::Zero(Words());
  for (int m = 0; m < kMembers; ++m) {
    const F square = hn::Mul(stack[m], stack[m]);
    const F factor = hn::Div(square, hn::Add(square, hn::Set(d, variance)));
    energy = hn::Add(energy, hn::NearestInt(hn::Mul(hn::Mul(factor, factor),
                                                    hn::Set(d, float(1 << mathematics::kDenoiseWeightBits)))));
    hn::Store(factor, d, guide + m * kBatchLanes);
  }
  load_members<kMembers>(coefficients, stack);
  haar<kMembers>(stack);
  for (int m = 0; m < kMembers; ++m) stack[m] = hn::Mul(stack[m], hn::Load(d, guide + m * kBatchLanes));
  haar_back<kMembers>(stack);
  store_members<kMembers>(stack, coefficients);
  return energy;
}

/// Shrinks everything, and returns the weight of each lane's stack.
template <int kMembers, class T>
void shrink(const DenoiseBatch<T>& b, float* weights) {
  const std::int64_t voxels = b.plan->step.patch.product();
  const float threshold = b.plan->numbers.threshold(b.plan->problem, b.channel);
  const float variance = b.plan->numbers.variance(b.plan->problem, b.channel);
  std::int64_t sums[kBatchLanes] = {};
  HWY_ALIGN std::int32_t of_voxel[kBatchLanes];
  for (std::int64_t v = 0; v < voxels; ++v) {
    for (std::int64_t lane = 0; lane < kBatchLanes; lane += lanes()) {
      const std::int64_t at = v * kMembers * kBatchLanes + lane;
      hn::Store(b.guide != nullptr ? weigh<kMembers>(b.coefficients + at, b.guide + at, variance)
                                   : keep_large<kMembers>(b.coefficients + at, threshold),
                Words(), of_voxel + lane);
    }
    for (std::int64_t lane = 0; lane < kBatchLanes; ++lane) sums[lane] += of_voxel[lane];
  }
  const float unit = b.guide != nullptr ? std::ldexp(1.0F, -mathematics::kDenoiseWeightBits) : 1.0F;
  for (std::int64_t lane = 0; lane < kBatchLanes; ++lane)
    weights[lane] = 1.0F / std::max(static_cast<float>(sums[lane]) * unit, 1.0F);
}

template <class T>
HWY_INLINE void shrink_any(const DenoiseBatch<T>& b, float* weights) {
  switch (b.members) {
    case 1: return shrink<1>(b, weights);
    case 2: return shrink<2>(b, weights);
    case 4: return shrink<4>(b, weights);
    case 8: return shrink<8>(b, weights);
    case 16: return shrink<16>(b, weights);
    case 32: return shrink<32>(b, weights);
    default: return shrink<64>(b, weights);
  }
}

/// A stack's weight times the window's, as whole numbers, for each voxel and lane.
template <class T>
HWY_INLINE void weigh_window(const DenoiseBatch<T>& b, const float* weights) {
  const Floats d;
  const F one = hn::Set(d, float(1 << mathematics::kDenoiseWeightBits));
  const std::vector<float>& window = b.plan->tables.window;
  for (std::size_t v = 0; v < window.size(); ++v) {
    for (std::int64_t lane = 0; lane < kBatchLanes; lane += lanes()) {
      const F weight = hn::Mul(hn::Mul(hn::Load(d, weights + lane), hn::Set(d, window[v])), one);
      hn::Store(hn::Max(hn::NearestInt(weight), hn::Set(Words(), 1)), Words(),
                b.weights + static_cast<std::int64_t>(v) * kBatchLanes + lane);
    }
  }
}

}  // namespace denoise_shrink
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
