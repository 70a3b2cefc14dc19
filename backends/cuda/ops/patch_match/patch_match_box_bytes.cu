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
// Candidates are looked at twice. The first time only the nearest of each of 32 sets is found: the 16th nearest of
// these is a distance that 16 candidates have. The second time what is not farther, about 22 of 1331 where all are
// alike, goes to a short list, of which each of the four lanes that have the same reference has one. Lists that fill up
// are sorted and merged with the lane's stack by networks of minimum and maximum, and in the end the four stacks.
//
// On an H100 a warp's 16 references take 15,700 instructions, of which the first look has 3,200, the second 6,700 and
// merging 1,900 (88 x 60 x 38 bytes, a threshold); 54 % of the issue slots are busy, and half of the second look's time
// goes by while products are waited for.
#include "ops/patch_match/patch_match_box_columns.cuh"
#include "ops/patch_match/patch_match_box_stack.cuh"

namespace tessera::cuda {

namespace {

/// One warp's references. A lane has two, which differ by 2 along z. kIsWhole: is the window as large as can be?
template <bool kIsWhole>
class BoxWarp : private BoxColumns<kIsWhole> {
 public:
  __device__ BoxWarp(const PatchBoxArguments& box, const BoxMemory& memory) : BoxColumns<kIsWhole>(box, memory) {
    int half[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) half[axis] = (kIsWhole ? Box::kMostWindow : width_[axis]) / 2;
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
    auto* const lists = memory.lists + static_cast<int>(threadIdx.x) / 32 * Box::kWarpBytes;
    list_ = lists + threadIdx.x % 32 * 16;
  }

  /// Finds limits that enough candidates are within.
  __device__ __forceinline__ void find_limits() {
    int nearest[2][kSets];  // sums: the larger, the nearer
#pragma unroll
    for (int i = 0; i < kSets; ++i) nearest[0][i] = nearest[1][i] = INT_MIN;
    for_each_column([&](const Column& column) {
      Words words(column);
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
    });
#pragma unroll
    for (int r = 0; r < 2; ++r) limits_[r] = max(limits_[r], sum_of_last(nearest[r]) - 1);
  }

  /// Lists what is within the limits, and merges it.
  __device__ __forceinline__ void list_nearest() {
    for_each_column([&](const Column& column) {
      Words words(column);
      int step = 0;
      // In a loop that is begun again where a list may fill up, so that the networks stand once in the program.
#pragma unroll 1
      while (step < steps()) {
        bool is_full = false;
        switch (step) {
          case 0:
            if ((is_full = look<0>(column, words, step))) break;
            [[fallthrough]];
          case 2:
            if ((is_full = look<2>(column, words, step))) break;
            [[fallthrough]];
          case 4:
            if ((is_full = look<4>(column, words, step))) break;
            [[fallthrough]];
          case 6:
            if ((is_full = look<6>(column, words, step))) break;
            [[fallthrough]];
          case 8:
            if ((is_full = look<8>(column, words, step))) break;
            [[fallthrough]];
          case 10:
            if ((is_full = look<10>(column, words, step))) break;
            [[fallthrough]];
          default: is_full = look<12>(column, words, step);
        }
        if (is_full) merge_lists();
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
    auto* const keys = reinterpret_cast<std::uint32_t*>(list_ - lane * 16);
    constexpr int kRow = Box::kPlaces + 1;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int i = 0; i < Box::kPlaces; ++i) {
        if (i / 4 == t_) keys[(group_ + 8 * r) * kRow + i] = stacks_[r].keys[i];
      }
    }
    __syncwarp();
    const BoxTile tile(box_);
    const PatchArguments& match = box_.match;
    const int places = static_cast<int>(match.max_patches);
    if (lane < Box::kReferences) {
      int count = 0;
      for (int i = 0; i < places; ++i) count += keys[lane * kRow + i] != Box::kNone ? 1 : 0;
      if (count < places && box_.leaves_rest != 0) count = -1;
      const int x = unit_x_ + box_along_x(lane);
      const int y = unit_y_ + box_along_y(lane);
      if (tile.is_reference(x, y, box_along_z(lane))) match.counts[tile.reference(x, y, box_along_z(lane))] = count;
    }
#pragma unroll 2
    for (int i = lane; i < Box::kReferences * Box::kPlaces; i += 32) {
      const int number = i / Box::kPlaces;
      const int place = i % Box::kPlaces;
      const int x = unit_x_ + box_along_x(number);
      const int y = unit_y_ + box_along_y(number);
      const int z = box_along_z(number);
      if (place >= places || !tile.is_reference(x, y, z)) continue;
      tile.write(unit_x_, unit_y_, tile.reference(x, y, z), place, keys[number * kRow + place]);
    }
  }

 private:
  using Columns = BoxColumns<kIsWhole>;
  using Columns::box_;
  using Columns::for_each_column;
  using Columns::group_;
  using Columns::is_within;
  using Columns::memory_;
  using Columns::steps;
  using Columns::t_;
  using Columns::unit_x_;
  using Columns::unit_y_;
  using Columns::width_;
  using typename Columns::Column;
  using typename Columns::Words;
  static constexpr int kSets = 8;  ///< of a lane and a reference
  static constexpr unsigned kWarp = 0xffffffffU;

  /// Looks at two steps. May a list have no room for two more?
  template <int kStep>
  __device__ __forceinline__ bool look(const Column& column, Words& words, int& step) {
    step = kStep + 2;
    if (!kIsWhole && kStep >= steps()) return false;
#pragma unroll
    for (int k = kStep; k < kStep + 2; ++k) {
      int sums[4];
      words.multiply(column, k, own_, sums);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        if (kIsWhole && (k < 2 * r || k > 2 * r + Box::kMostWindow)) continue;
        if (max(sums[2 * r], sums[2 * r + 1]) > limits_[r] && is_within(r, k)) {
          auto* const slot = list_ + r * Box::kListBytes + ends_[r];
          *reinterpret_cast<int2*>(slot) = make_int2(sums[2 * r], sums[2 * r + 1]);
          *reinterpret_cast<std::uint32_t*>(slot + 8) = column.number + k * Box::kNormPlane;
          ends_[r] += Box::kSlotBytes;
        }
      }
    }
    return is_full();
  }
  [[nodiscard]] __device__ __forceinline__ bool is_full() const {
    constexpr unsigned kFull = (Box::kSlots - 1) * Box::kSlotBytes;
    return __any_sync(kWarp, max(ends_[0], ends_[1]) >= kFull) != 0;
  }
  __device__ __forceinline__ void merge_lists() {
#pragma unroll
    for (int r = 0; r < 2; ++r) merge_list(r);
  }
  __device__ __forceinline__ void merge_list(int r) {
    std::uint32_t keys[Box::kKeys];
    const auto* const odd = memory_.odd + unit_y_ * Box::kRow + unit_x_;
#pragma unroll
    for (int i = 0; i < Box::kSlots; ++i) {
      const auto* const slot = list_ + r * Box::kListBytes + i * Box::kSlotBytes;
      const int2 sums = *reinterpret_cast<const int2*>(slot);
      const std::uint32_t number = *reinterpret_cast<const std::uint32_t*>(slot + 8) & ((1U << Box::kNumberBits) - 1);
      const bool is_listed = ends_[r] > i * Box::kSlotBytes;
      keys[2 * i] = key(r, is_listed && sums.x > limits_[r], sums.x, number, odd[number]);
      keys[2 * i + 1] = key(r, is_listed && sums.y > limits_[r], sums.y, number + 1, odd[number + 1]);
    }
    ends_[r] = 0;
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
                                                             int odd) const {
    const int distance = norms_[r] + odd - 2 * sum;
    if (!is_nearer || distance > box_.most_distance) return Box::kNone;
    return static_cast<std::uint32_t>(distance) << Box::kNumberBits | number;
  }
  /// Whose distance is not larger has a larger sum than this.
  [[nodiscard]] __device__ __forceinline__ int limit_of(int r, int distance) const {
    return ((norms_[r] - distance + 1) >> 1) - 1;
  }
  /// The least of the 16 largest sums of the sets of four lanes.
  static __device__ __forceinline__ int sum_of_last(const int (&nearest)[kSets]) {
    int mine[kSets];
#pragma unroll
    for (int i = 0; i < kSets; ++i) mine[i] = -max(nearest[i], INT_MIN + 1);
    sort_keys(mine);
    int both[2 * kSets];
#pragma unroll
    for (int i = 0; i < kSets; ++i) {
      both[i] = mine[i];
      both[2 * kSets - 1 - i] = __shfl_xor_sync(kWarp, mine[i], 1);
    }
    sort_bitonic(both);
    int last = INT_MIN;
#pragma unroll
    for (int i = 0; i < 2 * kSets; ++i) {
      last = max(last, min(both[i], __shfl_xor_sync(kWarp, both[2 * kSets - 1 - i], 2)));
    }
    return -last;
  }

  unsigned own_[4][4];  ///< pairs of words, one behind the other along z, of both references
  int norms_[2];
  int limits_[2];
  unsigned ends_[2] = {};  ///< of the lists, in bytes
  unsigned char* list_;
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
