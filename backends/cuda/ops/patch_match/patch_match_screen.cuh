// patch_match, packed_key, for floats and 16 bits: a group's region of voxels in shared memory, and a thread's list of
// the nearest candidates. See patch_match_screen.cu.
#pragma once

#include "ops/patch_match/patch_match_screen_arguments.h"
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

/// The nearest candidates by sums: each with as many of a sum's bits as its number leaves. Where fewer places are
/// wanted, zeros stand before them.
template <int kPlaces>
class ScreenList {
 public:
  __device__ ScreenList(const PatchScreenArguments& screen, int skipped, float most)
      : mask_(screen.number_mask), bound_(most) {
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) keys_[i] = i < skipped ? 0U : kNone;
  }
  /// What is beyond it need not be offered. NaN never is within it.
  [[nodiscard]] __device__ __forceinline__ float bound() const {
    return bound_;
  }
  __device__ __forceinline__ void offer(float sum, int number) {
    const std::uint32_t key = (__float_as_uint(sum) << 1 & ~mask_) | static_cast<std::uint32_t>(number);
#pragma unroll
    for (int i = kPlaces - 1; i > 0; --i) keys_[i] = min(keys_[i], max(keys_[i - 1], key));
    keys_[0] = min(keys_[0], key);
    const std::uint32_t last = (keys_[kPlaces - 1] | mask_) >> 1;
    if (last < kInfinity) bound_ = __uint_as_float(last);
  }
  /// Are all that were offered listed?
  [[nodiscard]] __device__ __forceinline__ bool has_all() const {
    return keys_[kPlaces - 1] == kNone;
  }
  /// The least sum of one that is not listed.
  [[nodiscard]] __device__ __forceinline__ float last_sum() const {
    return __uint_as_float((keys_[kPlaces - 1] & ~mask_) >> 1);
  }
  /// The nearest's number, -1 if there is none, which leaves the list.
  __device__ __forceinline__ int take() {
    const std::uint32_t key = keys_[0];
#pragma unroll
    for (int i = 0; i < kPlaces - 1; ++i) keys_[i] = keys_[i + 1];
    keys_[kPlaces - 1] = kNone;
    return key == kNone ? -1 : static_cast<int>(key & mask_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr std::uint32_t kInfinity = 0x7f800000U;

  std::uint32_t mask_;
  float bound_;
  std::uint32_t keys_[kPlaces];
};

/// The tile's region in shared memory; where the volume has no voxels there are zeros.
template <class Types>
class ScreenRegion {
 public:
  __device__ ScreenRegion(const PatchScreenArguments& screen, float* voxels) : screen_(screen), voxels_(voxels) {
    const std::int64_t line = blockIdx.x / screen.tiles[0];
    const std::int64_t plane = line / screen.tiles[1];
    number_[0] = (blockIdx.x - line * screen.tiles[0]) * screen.lanes[0];
    number_[1] = (line - plane * screen.tiles[1]) * screen.lanes[1];
    number_[2] = plane * screen.lanes[2];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      first_[axis] = place(axis, number_[axis]) - screen.match.window[axis] / 2;
    }
  }

  /// All threads call it; the voxels one after the other, whichever row they are of.
  __device__ __forceinline__ void load() const {
    // Many at once: a group has the multiprocessor to itself, and nothing else hides the way to memory.
    constexpr int kTogether = 8;
    const PatchArguments& match = screen_.match;
    const int width = screen_.region[0];
    const int rows = screen_.region[1];
    int begin[3];  // of what lies in the volume
    int count[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      begin[axis] = first_[axis] < 0 ? static_cast<int>(-first_[axis]) : 0;
      const std::int64_t left = match.size[axis] - first_[axis];
      count[axis] = (left < screen_.region[axis] ? static_cast<int>(left) : screen_.region[axis]) - begin[axis];
    }
    const auto* const volume =
        Types::volume(match) + (first_[2] * match.size[1] + first_[1]) * match.size[0] + first_[0];
    const std::int64_t inside = (begin[2] * match.size[1] + begin[1]) * match.size[0] + begin[0];
    const auto threads = static_cast<int>(blockDim.x);
    const int lines_on = threads / width;
    const int on[3] = {threads - lines_on * width, lines_on % rows, lines_on / rows};
    const auto line = static_cast<int>(threadIdx.x) / width;
    int at[3] = {static_cast<int>(threadIdx.x) - line * width, line % rows, line / rows};
#pragma unroll 1
    while (at[2] < screen_.region[2]) {
      float voxels[kTogether];
      int places[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const bool is_there = is_below(at[0] - begin[0], count[0]) && is_below(at[1] - begin[1], count[1]) &&
                              is_below(at[2] - begin[2], count[2]);
        const std::int64_t from = (at[2] * match.size[1] + at[1]) * match.size[0] + at[0];
        const auto voxel = static_cast<float>(__ldg(volume + (is_there ? from : inside)));
        voxels[i] = is_there ? voxel : 0.0F;
        places[i] = at[2] < screen_.region[2] ? at[2] * screen_.plane + at[1] * screen_.row + at[0] : -1;
        at[0] += on[0];
        const bool is_next_row = at[0] >= width;
        if (is_next_row) at[0] -= width;
        at[1] += on[1] + (is_next_row ? 1 : 0);
        const bool is_next_plane = at[1] >= rows;
        if (is_next_plane) at[1] -= rows;
        at[2] += on[2] + (is_next_plane ? 1 : 0);
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if (places[i] >= 0) voxels_[places[i]] = voxels[i];
      }
    }
  }

  /// Of an axis: where a reference stands.
  [[nodiscard]] __device__ __forceinline__ std::int64_t place(int axis, std::int64_t number) const {
    const PatchArguments& match = screen_.match;
    const std::int64_t along = match.start[axis] + number * match.step[axis];
    return along < match.last_place[axis] ? along : match.last_place[axis];
  }
  /// The thread's reference along an axis, which may be behind the last.
  [[nodiscard]] __device__ __forceinline__ std::int64_t number(int axis) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int along_z = lane / screen_.lanes[0];
    if (axis == 0) return number_[0] + lane - along_z * screen_.lanes[0];
    if (axis == 1) return number_[1] + static_cast<int>(threadIdx.x) / 32;
    return number_[2] + along_z;
  }
  /// From the region's first voxel.
  [[nodiscard]] __device__ __forceinline__ int from_first(int axis, std::int64_t place) const {
    return static_cast<int>(place - first_[axis]);
  }
  [[nodiscard]] __device__ __forceinline__ const float* at(int x, int y, int z) const {
    return voxels_ + z * screen_.plane + y * screen_.row + x;
  }

 private:
  static __device__ __forceinline__ bool is_below(int a, int b) {
    return static_cast<unsigned>(a) < static_cast<unsigned>(b);
  }

  const PatchScreenArguments& screen_;
  float* voxels_;
  std::int64_t number_[3];  // of the tile's first reference
  std::int64_t first_[3];   // voxel of the region
};

}  // namespace tessera::cuda
