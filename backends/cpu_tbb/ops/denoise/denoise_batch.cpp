// Sixteen stacks side by side, compiled once for every instruction set (Highway) and chosen when it runs.
//
//   volume            patch                coefficients                       A lane is a reference, so no step moves
//   [ ][ ][ ]  -----> voxel 0 |16 lanes|   voxel 0: member 0, 1, 2 .. |16|    anything between lanes: neither the
//   a member of each  voxel 1 |16 lanes|   voxel 1: member 0, 1, 2 .. |16|    transform along the patch, which takes
//   of 16 stacks      ...   transform -->  ...    Haar, shrink, back: in      the voxels of a line, nor that along the
//   sums <---- ... <---- transform back    registers, one voxel at a time     stack, which takes one voxel's members.
//
// A patch is converted and transformed where it lies in the first cache; a batch of 32 patches of 64 voxels takes 128
// KiB, or twice that with the basic estimate's, and stays in the second. Its coefficients are read and written once
// between the two transforms. Every operation is the definition's (docs/decisions/0019): products are not fused.
#include "ops/denoise/denoise_batch.h"

#include <algorithm>
#include <cmath>

#include "ops/denoise/denoise_colour.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/denoise/denoise_batch.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "ops/denoise/denoise_shrink.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace denoise_batch {

namespace hn = hwy::HWY_NAMESPACE;

/// A scaled voxel of one channel; of a volume that is not finite there, the basic estimate's.
template <class T>
HWY_INLINE float voxel_at(const T* from, const T* instead, const DenoiseBatch<T>& b, float scale) {
  const auto scaled = [&](std::int64_t colour) {
    const std::int64_t at = colour * b.channel_voxels;
    if constexpr (std::is_same_v<T, float>) {
      const bool is_finite = instead == nullptr || std::isfinite(from[at]);
      return (is_finite ? from[at] : instead[at]) * scale;
    } else {
      return static_cast<float>(from[at]) * scale;
    }
  };
  return b.channels == 1 ? scaled(0) : channel_of_colours(b.channel, scaled(0), scaled(1), scaled(2));
}

/// One member of every stack, of the volume or the basic estimate.
template <class T>
HWY_INLINE void load_patch(const DenoiseBatch<T>& b, const T* source, const T* instead, std::int64_t member) {
  const PerAxis& patch = b.plan->step.patch;
  const float scale = b.plan->numbers.scale();
  const std::int64_t* const first = b.voxels + member * kBatchLanes;
  for (std::int64_t lane = 0; lane < kBatchLanes; ++lane) {
    float* to = b.patch + lane;
    for (std::int64_t z = 0; z < patch.z; ++z) {
      for (std::int64_t y = 0; y < patch.y; ++y) {
        const std::int64_t at = first[lane] + z * b.plane + y * b.row;
        const T* const other = instead == nullptr ? nullptr : instead + at;
        if (b.channels == 1 && (other == nullptr || !std::is_same_v<T, float>)) {
          for (std::int64_t x = 0; x < patch.x; ++x, to += kBatchLanes)
            *to = static_cast<float>(source[at + x]) * scale;
        } else {
          for (std::int64_t x = 0; x < patch.x; ++x, to += kBatchLanes)
            *to = voxel_at(source + at + x, other == nullptr ? nullptr : other + x, b, scale);
        }
      }
    }
  }
}

/// A line's sums of products, each from its first term on. kSide is 0 where it is known at run time alone. `along_row`
/// is the step from one product's factor in the matrix to the next, `down` that from one sum's to the next.
template <int kSide>
HWY_INLINE void transform_line(float* line, std::int64_t apart, std::int64_t run_time_side, const float* matrix,
                               std::int64_t along_row, std::int64_t down) {
  const std::int64_t side = kSide > 0 ? kSide : run_time_side;
  const Floats d;
  for (std::int64_t lane = 0; lane < kBatchLanes; lane += lanes()) {
    F voxels[kSide > 0 ? kSide : Denoise::kLargestSide];
    for (std::int64_t j = 0; j < side; ++j) voxels[j] = hn::Load(d, line + j * apart + lane);
    for (std::int64_t i = 0; i < side; ++i) {
      const float* const row = matrix + i * down;
      F sum = hn::Mul(hn::Set(d, row[0]), voxels[0]);
      for (std::int64_t j = 1; j < side; ++j) sum = hn::Add(sum, hn::Mul(hn::Set(d, row[j * along_row]), voxels[j]));
      hn::Store(sum, d, line + i * apart + lane);
    }
  }
}

/// All lines of a patch along one axis, `apart` voxels from one of a line's voxels to the next.
HWY_INLINE void transform_axis(float* patch, std::int64_t voxels, std::int64_t side, std::int64_t apart,
                               const float* matrix, bool is_inverse) {
  if (side == 1) return;
  const std::int64_t along_row = is_inverse ? side : 1;
  const std::int64_t down = is_inverse ? 1 : side;
  for (std::int64_t block = 0; block < voxels; block += side * apart) {
    for (std::int64_t i = 0; i < apart; ++i) {
      float* const line = patch + (block + i) * kBatchLanes;
      if (side == 8) {
        transform_line<8>(line, apart * kBatchLanes, side, matrix, along_row, down);
      } else if (side == 4) {
        transform_line<4>(line, apart * kBatchLanes, side, matrix, along_row, down);
      } else {
        transform_line<0>(line, apart * kBatchLanes, side, matrix, along_row, down);
      }
    }
  }
}

HWY_INLINE void transform_patch(const DenoiseStepPlan& plan, float* patch, bool is_inverse) {
  const PerAxis& side = plan.step.patch;
  const std::int64_t voxels = side.product();
  transform_axis(patch, voxels, side.x, 1, plan.tables.x.data(), is_inverse);
  transform_axis(patch, voxels, side.y, side.x, plan.tables.y.data(), is_inverse);
  transform_axis(patch, voxels, side.z, side.x * side.y, plan.tables.z.data(), is_inverse);
}

/// Patches of all stacks as coefficients, a voxel's members one behind the other.
template <class T>
HWY_INLINE void load_stacks(const DenoiseBatch<T>& b, const T* source, const T* instead, float* coefficients) {
  const std::int64_t voxels = b.plan->step.patch.product();
  for (std::int64_t member = 0; member < b.members; ++member) {
    load_patch(b, source, instead, member);
    transform_patch(*b.plan, b.patch, false);
    for (std::int64_t v = 0; v < voxels; ++v)
      std::copy_n(b.patch + v * kBatchLanes, kBatchLanes, coefficients + (v * b.members + member) * kBatchLanes);
  }
}

/// Estimates as whole numbers, in the place of the floats.
template <class T>
HWY_INLINE std::int32_t* round_patch(const DenoiseBatch<T>& b) {
  const Floats d;
  auto* const units = reinterpret_cast<std::int32_t*>(b.patch);
  const F most = hn::Set(d, b.plan->numbers.most_units());
  const F scale = hn::Set(d, b.plan->numbers.units());
  const std::int64_t count = b.plan->step.patch.product() * kBatchLanes;
  for (std::int64_t i = 0; i < count; i += lanes()) {
    const F value = hn::Mul(hn::Load(d, b.patch + i), scale);
    hn::Store(hn::NearestInt(hn::Min(hn::Max(value, hn::Neg(most)), most)), Words(), units + i);
  }
  return units;
}

/// Adds one member of every stack to the sums.
template <class T>
HWY_INLINE void add_patch(const DenoiseBatch<T>& b, const std::int32_t* units, std::int64_t member) {
  const PerAxis& patch = b.plan->step.patch;
  for (std::int64_t lane = 0; lane < b.lanes; ++lane) {
    std::int64_t from = lane;
    for (std::int64_t z = 0; z < patch.z; ++z) {
      for (std::int64_t y = 0; y < patch.y; ++y) {
        const std::int64_t at = b.places[member * kBatchLanes + lane] + z * b.sums_plane + y * b.sums_row;
        std::int64_t* const estimates = b.sums.estimates + at;
        std::int64_t* const weights = b.sums.weights + at;
        for (std::int64_t x = 0; x < patch.x; ++x, from += kBatchLanes) {
          const std::int64_t weight = b.weights[from];
          estimates[x] += weight * units[from];
          weights[x] += weight;
        }
      }
    }
  }
}

template <class T>
void filter_lanes(const DenoiseBatch<T>& b) {
  HWY_ALIGN float weights[kBatchLanes];
  if (b.guide != nullptr) load_stacks<T>(b, b.input.basic, nullptr, b.guide);
  load_stacks<T>(b, b.input.volume, b.input.basic, b.coefficients);
  shrink_any(b, weights);
  weigh_window(b, weights);
  const std::int64_t voxels = b.plan->step.patch.product();
  for (std::int64_t member = 0; member < b.members; ++member) {
    for (std::int64_t v = 0; v < voxels; ++v)
      std::copy_n(b.coefficients + (v * b.members + member) * kBatchLanes, kBatchLanes, b.patch + v * kBatchLanes);
    transform_patch(*b.plan, b.patch, true);
    add_patch(b, round_patch(b), member);
  }
}

void filter_uint8(const DenoiseBatch<std::uint8_t>& batch) {
  filter_lanes(batch);
}
void filter_uint16(const DenoiseBatch<std::uint16_t>& batch) {
  filter_lanes(batch);
}
void filter_float(const DenoiseBatch<float>& batch) {
  filter_lanes(batch);
}

}  // namespace denoise_batch
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(filter_uint8);
HWY_EXPORT(filter_uint16);
HWY_EXPORT(filter_float);

void filter_batch(const DenoiseBatch<std::uint8_t>& batch) {
  HWY_DYNAMIC_DISPATCH(filter_uint8)(batch);
}
void filter_batch(const DenoiseBatch<std::uint16_t>& batch) {
  HWY_DYNAMIC_DISPATCH(filter_uint16)(batch);
}
void filter_batch(const DenoiseBatch<float>& batch) {
  HWY_DYNAMIC_DISPATCH(filter_float)(batch);
}

double denoise_batch_bytes(const DenoiseStep& step, bool is_wiener) noexcept {
  const auto of_patch = static_cast<double>(step.patch.product() * kBatchLanes);
  return sizeof(float) * of_patch * (static_cast<double>(step.max_patches * (is_wiener ? 2 : 1)) + 2);
}

}  // namespace tessera::cpu_tbb
#endif
