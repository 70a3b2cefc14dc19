// denoise, columns: what a block and its warps do. See denoise_columns.cu.
#pragma once

#include "ops/denoise/denoise_columns_filter.cuh"
#include "ops/denoise/denoise_columns_region.cuh"

namespace tessera::cuda {

/// The layer's stacks of one warp, kStacks of them, from voxels to sums. A thread has patch `lane` while patches are
/// loaded and transformed, and a voxel of all patches in between.
template <class T, bool kIsWiener, class Transform, int kPlaces>
class ColumnWarp {
 public:
  static constexpr int kStacks = 32 / kPlaces;
  static constexpr int kTogether = 4;

  __device__ __forceinline__ ColumnWarp(const DenoiseColumnArguments& c, const ColumnRegion<T>& region,
                                        const ColumnLayer& layer)
      : c_(c),
        region_(region),
        lane_(static_cast<int>(threadIdx.x) % 32),
        rows_(region.rows + static_cast<int>(threadIdx.x) / 32 * 32 * kColumnPitch) {
    const int number = static_cast<int>(threadIdx.x) / kPlaces;
    const int y = number / c_.tile[0];
    const int x = number - y * c_.tile[0];
    is_there_ = x < layer.references[0] && y < layer.references[1];
    reference_ = (layer.y + y) * c_.references[0] + layer.x + x;
    fetch(layer);
  }

  /// What filter() takes of a layer, on its way while others are at work.
  __device__ __forceinline__ void fetch(const ColumnLayer& layer) {
    if (!is_there_) return;
    const std::int64_t reference =
        static_cast<std::int64_t>(layer.z) * c_.references[1] * c_.references[0] + reference_;
    count_ = c_.step.counts[reference];
    const std::int64_t member = min(lane_ % kPlaces, static_cast<int>(c_.step.places) - 1);
    index_ = *reinterpret_cast<const unsigned*>(c_.step.indices + reference * c_.step.places + member);
  }

  /// `scales`: threshold and variance. Fetches for `next`.
  __device__ __forceinline__ void filter(const ColumnLayer& layer, const ColumnLayer& next, float scale,
                                         const float* scales, const float* window) {
    find_patches(layer);
    if (members_[0] == 0 && members_[kStacks - 1] == 0) {
      if (!layer.is_last()) fetch(next);
      return;
    }
    float patch[kCubeVoxels];
    std::uint32_t energies[kStacks] = {};
    if constexpr (kIsWiener) {
      float factors[kCubeVoxels];
      load(region_.basic, scale, patch);
      transform_cube<Transform, false>(patch);
      const float variance = scales[1];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        put(half, patch);
        __syncwarp();
#pragma unroll
        for (int s = 0; s < kStacks; ++s) {
          float(&of_stack)[kPlaces] = reinterpret_cast<float(&)[kPlaces]>(factors[(half * kStacks + s) * kPlaces]);
          take_members(s, of_stack);
          haar<kPlaces>(of_stack, members_[s]);
          energies[s] += wiener_factors<kPlaces>(of_stack, variance);
        }
        __syncwarp();
      }
      load(region_.voxels, scale, patch);
      transform_cube<Transform, false>(patch);
      shrink(patch, [&](int half, int s, float(&numbers)[kPlaces]) {
#pragma unroll
        for (int m = 0; m < kPlaces; ++m) numbers[m] = times(numbers[m], factors[(half * kStacks + s) * kPlaces + m]);
      });
    } else {
      load(region_.voxels, scale, patch);
      transform_cube<Transform, false>(patch);
      const float threshold = scales[0];
      shrink(patch,
             [&](int, int s, float(&numbers)[kPlaces]) { energies[s] += keep_large<kPlaces>(numbers, threshold); });
    }
    int weights[kStacks][2];
#pragma unroll
    for (int s = 0; s < kStacks; ++s) {
      const float weight = stack_weight(sum_of_warp(energies[s]), kIsWiener ? 1 / kDenoiseWeightUnits : 1.0F);
      weights[s][0] = weight_units(weight, window[lane_]);
      weights[s][1] = weight_units(weight, window[32 + lane_]);
    }
    transform_cube<Transform, true>(patch);
    if (!layer.is_last()) fetch(next);  // not before: registers are few
    add(patch, weights);
  }

 private:
  __device__ __forceinline__ void find_patches(const ColumnLayer& layer) {
    const int members = is_there_ ? filtered_members(count_) : 0;
#pragma unroll
    for (int s = 0; s < kStacks; ++s) members_[s] = __shfl_sync(0xffffffffU, members, s * kPlaces);
    is_member_ = lane_ % kPlaces < members;
    // What is no member reads a patch of the layer too, of whose voxels none is written meanwhile.
    first_ = layer.first_voxel_slot * c_.slice;
    unsigned sum = 0;
    if (is_member_) region_.find(index_, layer, first_, sum);
    // Four patches' together, behind the first one's numbers.
    reinterpret_cast<unsigned*>(rows_)[lane_ / 4 * 4 * kColumnPitch + 32 + lane_ % 4] = sum;
  }

  __device__ __forceinline__ void load(const T* voxels, float scale, float (&patch)[kCubeVoxels]) const {
    load_cube(voxels, first_, c_.row, c_.slice, c_.voxel_ring * c_.slice, is_member_, scale, patch);
  }

  /// Half a patch into the warp's memory, and back.
  __device__ __forceinline__ void put(int half, const float (&patch)[kCubeVoxels]) const {
    auto* const row = reinterpret_cast<float4*>(rows_ + lane_ * kColumnPitch);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int v = half * 32 + 4 * i;
      row[i] = make_float4(patch[v], patch[v + 1], patch[v + 2], patch[v + 3]);
    }
  }
  __device__ __forceinline__ void take(int half, float (&patch)[kCubeVoxels]) const {
    const auto* const row = reinterpret_cast<const float4*>(rows_ + lane_ * kColumnPitch);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int v = half * 32 + 4 * i;
      const float4 four = row[i];
      patch[v] = four.x, patch[v + 1] = four.y, patch[v + 2] = four.z, patch[v + 3] = four.w;
    }
  }

  /// A voxel's members. What lies behind the last meets no other.
  __device__ __forceinline__ void take_members(int stack, float (&numbers)[kPlaces]) const {
#pragma unroll
    for (int m = 0; m < kPlaces; ++m) numbers[m] = rows_[(stack * kPlaces + m) * kColumnPitch + lane_];
  }
  __device__ __forceinline__ void put_members(int stack, const float (&numbers)[kPlaces]) const {
#pragma unroll
    for (int m = 0; m < kPlaces; ++m) rows_[(stack * kPlaces + m) * kColumnPitch + lane_] = numbers[m];
  }

  /// `change(half, stack, members)`
  template <class Change>
  __device__ __forceinline__ void shrink(float (&patch)[kCubeVoxels], const Change& change) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      put(half, patch);
      __syncwarp();
#pragma unroll
      for (int s = 0; s < kStacks; ++s) {
        float numbers[kPlaces];
        take_members(s, numbers);
        haar<kPlaces>(numbers, members_[s]);
        change(half, s, numbers);
        haar_back<kPlaces>(numbers, members_[s]);
        put_members(s, numbers);
      }
      __syncwarp();
      take(half, patch);
    }
  }

  /// Of each patch, one after the other, a half at a time: its voxels meet in no bank.
  __device__ __forceinline__ void add(const float (&patch)[kCubeVoxels], const int (&weights)[kStacks][2]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      put(half, patch);
      __syncwarp();
      const unsigned voxel = 4 * ((2 * half + lane_ / 16) * c_.slice + lane_ / 4 % 4 * c_.row + lane_ % 4);
#pragma unroll
      for (int s = 0; s < kStacks; ++s) {
        const float* row = rows_ + s * kPlaces * kColumnPitch;
        const int members = members_[s];
        if (members == 1 || members == 2) add_patches<1>(row, voxel, weights[s][half]);
        if (members == 2) add_patches<1, 1>(row, voxel, weights[s][half]);
#pragma unroll 1
        for (int m = 0; m + kTogether <= members; m += kTogether, row += kTogether * kColumnPitch)
          add_patches<kTogether>(row, voxel, weights[s][half]);
      }
      __syncwarp();
    }
  }
  /// The thread's voxel of some patches from kFirst on: additions wait for each other's carries together.
  template <int kPatches, int kFirst = 0>
  __device__ __forceinline__ void add_patches(const float* row, unsigned voxel, int weight) const {
    const uint4 firsts = *reinterpret_cast<const uint4*>(row + 32);
    const unsigned four[4] = {firsts.x, firsts.y, firsts.z, firsts.w};
    unsigned at[kPatches];
    std::int64_t numbers[kPatches];
#pragma unroll
    for (int i = 0; i < kPatches; ++i) {
      at[i] = voxel + four[kFirst + i];
      at[i] = min(at[i], at[i] - region_.bytes);
      numbers[i] = product(weight, estimate_units(c_.step, row[(kFirst + i) * kColumnPitch + lane_]));
    }
    std::uint32_t before[kPatches];
#pragma unroll
    for (int i = 0; i < kPatches; ++i) before[i] = atomicAdd(column_sum(at[i]), lower_half(numbers[i]));
#pragma unroll
    for (int i = 0; i < kPatches; ++i) {
      at[i] += region_.bytes;
      atomicAdd(column_sum(at[i] + region_.bytes), static_cast<std::uint32_t>(weight));
    }
#pragma unroll
    for (int i = 0; i < kPatches; ++i) {
      const std::uint32_t lower = lower_half(numbers[i]);
      atomicAdd(column_sum(at[i]), lower_half(numbers[i] >> 32) + (before[i] + lower < lower ? 1U : 0U));
    }
  }

  const DenoiseColumnArguments& c_;
  const ColumnRegion<T>& region_;
  int lane_;
  float* rows_;
  bool is_there_;  ///< is there a reference?
  int reference_;  ///< of the round's layer
  int count_ = 0;  ///< of patches, as they are found
  unsigned index_ = 0;
  int members_[kStacks];
  bool is_member_ = false;
  int first_ = 0;  ///< voxel of the thread's patch, in the region
};

template <class T, bool kIsWiener, class Transform, int kPlaces>
__device__ __forceinline__ void filter_column(const DenoiseColumnArguments& c) {
  const ColumnRegion<T> region(c, kIsWiener);
  ColumnLayer layer(c);
  const int exponent = scale_exponent<T>(c.step);
  const float scale = power_of_two(-exponent);
  const float* const scales = scales_of(c.step, exponent);
  const float* const window = window_of(c.step);

  ColumnWarp<T, kIsWiener, Transform, kPlaces> warp(c, region, layer);
  region.clear();
  // Each part stands here once: a multiprocessor's cache of instructions does not hold much more. So the first time
  // through there is no layer yet, but one to be loaded.
  bool is_layer = false;
  while (true) {
    const ColumnLayer next = is_layer ? layer.next(c) : layer;
    if (is_layer) warp.filter(layer, next, scale, scales, window);
    const bool is_end = is_layer && layer.is_last();
    // The voxels' ring has room for what the next layer reaches as well.
    if (!is_end) region.load(layer, is_layer ? layer.end_slice : layer.first_slice, next.end_slice, kIsWiener);
    __syncthreads();
    if (is_layer) region.hand_on(layer, layer.first_slice, is_end ? layer.end_slice : next.first_slice);
    if (is_end) return;
    layer = next;
    is_layer = true;
    __syncthreads();
  }
}

}  // namespace tessera::cuda
