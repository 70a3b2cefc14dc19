// patch_match, box_sums for bytes: patches of 4 x 4 x 4, windows up to 11 along each axis, a reference at every place.
//
//   a warp      2 x 2 x 4 references, whose candidates are nearly the same: 12 x 12 x 14 where each has 11 x 11 x 11.
//               It multiplies their 16 patches by those of 8 candidates, 4 along x and 2 along y, at a time: 64 bytes
//               each, two products of the tensor cores (m16n8k32). See patch_match_box_columns.cuh.
//   a group     4 x 2 warps: 8 x 4 x 4 references, all candidates' words and norms in shared memory
//
//   distance = norm of reference + norm of candidate - 2 * sum of products. Sums begin at half the candidate's norm,
//   negative, so that a comparison is all that a pair takes; the bit that is lost is added to those that are kept.
//   A place whose candidate does not exist has a norm beyond every limit.
//
// Rows in the middle of the window are looked at twice. The first time only the nearest of each of 32 sets is found:
// the 16th nearest of these is a distance that 16 candidates have. Then what is not farther goes to a list, of which
// each of the four lanes that have the same reference has one. Lists that fill up are sorted and merged with the lane's
// stack by networks of minimum and maximum, which nears the limit, and in the end the four stacks.
#include "ops/patch_match/patch_match_box_columns.cuh"
#include "ops/patch_match/patch_match_box_stack.cuh"

namespace tessera::cuda {

namespace {

/// One warp's references. A lane has two, which differ by 2 along z. kIsWhole: is the window as large as can be?
template <bool kIsWhole>
class BoxWarp : private BoxColumns<kIsWhole> {
 public:
  __device__ BoxWarp(const PatchBoxArguments& box, const BoxMemory& memory) : BoxColumns<kIsWhole>(box, memory) {
    const int half[3] = {width_[0] / 2, width_[1] / 2, width_[2] / 2};
    const BoxTile tile(box);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int x = unit_x_ + box_along_x(group_);
      const int y = unit_y_ + box_along_y(group_);
      const int z = box_along_z(group_ + 8 * r);
      const int at = ((half[2] + z) * Box::kNormsY + half[1] + y) * Box::kRow + half[0] + x;
      norms_[r] = static_cast<int>(memory.odd[at]) - 2 * memory.norms[at];
      limits_[r] = tile.is_reference(x, y, z) ? limit_of(r, box.most_distance) : INT_MAX;
      stacks_[r].clear();
      const int word = (half[2] + z) * Box::kWordPlane + (half[1] + y + t_) * Box::kRow + half[0] + x;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        // Read twice, so that each pair of words has registers of its own.
        const volatile std::uint32_t* const from = memory.words + word;
        own_[k][r] = from[k * Box::kWordPlane];
        own_[k][r + 2] = from[(k + 1) % 4 * Box::kWordPlane];
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      begins_[r] = kLists + threadIdx.x / 32 * Box::kWarpBytes + r * Box::kListBytes + threadIdx.x % 32 * 16;
      ends_[r] = begins_[r];
    }
  }

  /// Finds limits that enough candidates are within, of rows in the middle of the window.
  __device__ __forceinline__ void find_limits() {
    int nearest[2][kSets];  // sums: the larger, the nearer
#pragma unroll
    for (int i = 0; i < kSets; ++i) nearest[0][i] = nearest[1][i] = INT_MIN;
    const int middle = max(width_[1] / 2 - 1, 0) / 2 * 2;
    for_each_column(middle, min(middle + 2 * Box::kColumnsY, rows()), [&](const Column& column) {
      Words words(column, 0);
#pragma unroll
      for (int step = 0; step < Box::kSteps; ++step) {
        if (!kIsWhole && step >= steps()) break;
        int sums[4];
        words.multiply(column, step, own_, sums);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if (!is_within(r, step)) continue;
          int& set = nearest[r][step % kSets];
          set = max(set, max(sums[2 * r], sums[2 * r + 1]));
        }
      }
      turn_sets<3>(nearest);
    });
#pragma unroll
    for (int r = 0; r < 2; ++r) limits_[r] = max(limits_[r], box_sum_of_last(nearest[r]) - 1);
  }

  /// Lists what is within the limits, and merges it.
  __device__ __forceinline__ void list_nearest() {
    for_each_column(0, rows(), [&](const Column& column) {
      Words words(column, 0);
      int sums[2][4];
      words.multiply_two(column, 0, own_, sums);
      int step = 0;
      // Where a list may fill up the walk is left and gone on with, so that the networks stand once in the program.
      bool is_left = look_from<0>(column, words, sums, step);
#pragma unroll 1
      while (is_left) {
        merge_lists();
        is_left = look_on(column, step);
      }
    });
    merge_lists();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      stacks_[r].merge_with_lane(1);
      stacks_[r].merge_with_lane(2);
    }
  }

  /// Writes the stacks, of which four lanes have the same. All threads call it, after their last list.
  __device__ __forceinline__ void write() const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    auto* const keys = static_cast<std::uint32_t*>(at(begins_[0] - lane * 16));
    constexpr int kRow = Box::kPlaces + 1;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int i = 0; i < Box::kPlaces; ++i) {
        // A limit lets one distance more through than is kept.
        const std::uint32_t key = stacks_[r].keys[i];
        const bool is_kept = static_cast<int>(key >> Box::kNumberBits) <= box_.most_distance;
        if (i / 4 == t_) keys[(group_ + 8 * r) * kRow + i] = is_kept ? key : Box::kNone;
      }
    }
    __syncwarp();
    const BoxTile tile(box_);
    const PatchArguments& match = box_.match;
    const int places = static_cast<int>(match.max_patches);
    const int place = lane % Box::kPlaces;
    const int x = unit_x_ + lane / Box::kPlaces;
    const std::int64_t reference = tile.reference(x, unit_y_, 0);
    const std::int64_t first_voxel = tile.first_candidate(unit_x_, unit_y_);
#pragma unroll 2
    for (int i = 0; i < Box::kReferences / 2; ++i) {
      const int y = box_along_y(2 * i);
      const int z = box_along_z(2 * i);
      const std::uint32_t key = keys[(2 * i + lane / Box::kPlaces) * kRow + place];
      const unsigned kept = __ballot_sync(kWarp, place < places && key != Box::kNone);
      if (place >= places || !tile.is_reference(x, unit_y_ + y, z)) continue;
      const std::int64_t at = reference + (z * match.references[1] + y) * match.references[0];
      if (place == 0) {
        const int count = __popc(kept >> (lane / Box::kPlaces * Box::kPlaces) & 0xffffU);
        match.counts[at] = count < places && box_.leaves_rest != 0 ? -1 : count;
      }
      tile.write(at * places + place, first_voxel, key);
    }
  }

 private:
  using Columns = BoxColumns<kIsWhole>;
  using Columns::box_;
  using Columns::for_each_column;
  using Columns::group_;
  using Columns::is_within;
  using Columns::memory_;
  using Columns::rows;
  using Columns::steps;
  using Columns::t_;
  using Columns::unit_x_;
  using Columns::unit_y_;
  using Columns::width_;
  using typename Columns::Column;
  using typename Columns::Words;
  static constexpr int kSets = 8;  ///< of a lane and a reference
  static constexpr unsigned kWarp = 0xffffffffU;
  static constexpr unsigned kLists = 4 * (Box::kWords + Box::kNorms) + Box::kOddBytes;

  /// Looks at all steps from one on, whose sums are there; while two are looked at the next two are multiplied. Is the
  /// walk left, at `step`, because a list may have no room for two more?
  template <int kStep>
  __device__ __forceinline__ bool look_from(const Column& column, Words& words, const int (&sums)[2][4], int& step) {
    if (!kIsWhole && kStep >= steps()) return false;
    if constexpr (kStep + 2 < Box::kSteps) {
      int next[2][4];
      words.multiply_two(column, kStep + 2, own_, next);
      if (look<kStep>(column, sums)) {
        step = kStep + 2;
        return true;
      }
      return look_from<kStep + 2>(column, words, next, step);
    } else {
      step = kStep + 2;
      return look<kStep>(column, sums);
    }
  }
  /// Looks at all steps from `step` on.
  __device__ __forceinline__ bool look_on(const Column& column, int& step) {
    Words words(column, step);
    bool is_left = false;
    switch (step) {
      case 2:
        if ((is_left = look_at<2>(column, words, step))) break;
        [[fallthrough]];
      case 4:
        if ((is_left = look_at<4>(column, words, step))) break;
        [[fallthrough]];
      case 6:
        if ((is_left = look_at<6>(column, words, step))) break;
        [[fallthrough]];
      case 8:
        if ((is_left = look_at<8>(column, words, step))) break;
        [[fallthrough]];
      case 10:
        if ((is_left = look_at<10>(column, words, step))) break;
        [[fallthrough]];
      case 12: is_left = look_at<12>(column, words, step); break;
    }
    return is_left;
  }
  template <int kStep>
  __device__ __forceinline__ bool look_at(const Column& column, Words& words, int& step) {
    step = kStep + 2;
    if (!kIsWhole && kStep >= steps()) return false;
    int sums[2][4];
    words.multiply_two(column, kStep, own_, sums);
    return look<kStep>(column, sums);
  }
  /// Looks at two steps.
  template <int kStep>
  __device__ __forceinline__ bool look(const Column& column, const int (&sums)[2][4]) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int step = kStep + k;
        if (kIsWhole && (step < 2 * r || step > 2 * r + Box::kMostWindow)) continue;
        if (max(sums[k][2 * r], sums[k][2 * r + 1]) > limits_[r] && is_within(r, step)) {
          *static_cast<int2*>(at(ends_[r])) = make_int2(sums[k][2 * r], sums[k][2 * r + 1]);
          *static_cast<std::uint32_t*>(at(ends_[r] + 8)) = column.number + step * Box::kNormPlane;
          ends_[r] += Box::kSlotBytes;
        }
      }
    }
    constexpr unsigned kFull = (Box::kSlots - 1) * Box::kSlotBytes;
    return __any_sync(kWarp, ends_[0] >= begins_[0] + kFull || ends_[1] >= begins_[1] + kFull) != 0;
  }
  [[nodiscard]] __device__ __forceinline__ void* at(unsigned bytes) const {
    return reinterpret_cast<unsigned char*>(memory_.words) + bytes;
  }
  __device__ __forceinline__ void merge_lists() {
    merge_list(0);
    merge_list(1);
  }
  __device__ __forceinline__ void merge_list(int r) {
    std::uint32_t keys[Box::kKeys];
    const auto* const odd = memory_.odd + unit_y_ * Box::kRow + unit_x_;
#pragma unroll
    for (int i = 0; i < Box::kSlots; ++i) {
      const unsigned slot = begins_[r] + i * Box::kSlotBytes;
      const int2 sums = *static_cast<const int2*>(at(slot));
      const std::uint32_t number = *static_cast<const std::uint32_t*>(at(slot + 8)) & ((1U << Box::kNumberBits) - 1);
      const bool is_listed = ends_[r] > slot;
      keys[2 * i] = key(r, is_listed && sums.x > limits_[r], sums.x, number, odd[number]);
      keys[2 * i + 1] = key(r, is_listed && sums.y > limits_[r], sums.y, number + 1, odd[number + 1]);
    }
    ends_[r] = begins_[r];
    sort_keys(keys);
    stacks_[r].merge(keys);
    // What the lane's 16 are within, and what 4 of each of the four lanes are.
    std::uint32_t within = stacks_[r].keys[Box::kPlaces / 4 - 1];
    within = max(within, __shfl_xor_sync(kWarp, within, 1));
    within = max(within, __shfl_xor_sync(kWarp, within, 2));
    within = min(within, stacks_[r].keys[Box::kPlaces - 1]);
    if (within != Box::kNone) limits_[r] = max(limits_[r], limit_of(r, static_cast<int>(within >> Box::kNumberBits)));
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t key(int r, bool is_nearer, int sum, std::uint32_t number,
                                                             std::uint32_t odd) const {
    constexpr std::uint32_t kScale = 1U << Box::kNumberBits;
    const std::uint32_t found =
        (norms_[r] * kScale + number) + odd * kScale - static_cast<std::uint32_t>(sum) * (2 * kScale);
    return is_nearer ? found : Box::kNone;
  }
  /// Whose distance is not larger has a larger sum than this.
  [[nodiscard]] __device__ __forceinline__ int limit_of(int r, int distance) const {
    return ((norms_[r] - distance + 1) >> 1) - 1;
  }
  unsigned own_[4][4];  ///< pairs of words, one behind the other along z, of both references
  int norms_[2];
  int limits_[2];
  unsigned begins_[2];  ///< of the lists, in bytes
  unsigned ends_[2];
  BoxStack stacks_[2];
};

template <bool kIsWhole>
__device__ __forceinline__ void match_box(const PatchBoxArguments& box) {
  extern __shared__ __align__(16) unsigned char shared[];
  const BoxMemory memory(shared);
  load_box(box, memory);
  BoxWarp<kIsWhole> warp(box, memory);
  warp.find_limits();
  warp.list_nearest();
  warp.write();
}

}  // namespace
}  // namespace tessera::cuda

#define TESSERA_PATCH_BOX(name, is_whole)                                                                  \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::BoxBytes::kThreads, 2)                       \
      tessera_patch_match_box_bytes_##name(const __grid_constant__ tessera::cuda::PatchBoxArguments box) { \
    tessera::cuda::match_box<is_whole>(box);                                                               \
  }
TESSERA_PATCH_BOX(whole, true)
TESSERA_PATCH_BOX(part, false)
