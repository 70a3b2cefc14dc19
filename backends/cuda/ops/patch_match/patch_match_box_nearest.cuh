// patch_match, box_sums for bytes, a reference at every place: stacks of listed candidates, whose distances are found
// once more, from the words of both patches.
//
//   lanes    two for each of a warp's 16 references: a lane finds every other candidate's distance, up to 16 at a time,
//            sorts them by a network of minimum and maximum, and merges both lanes' in the end
//   key      [ distance | number ]  One comparison orders by distance, then by number, which rises with the index.
//
// Where ties fill the lists, or distances pass what a key holds, all lanes look at a reference together.
#pragma once

#include "ops/patch_match/patch_match_box_bytes.cuh"
#include "ops/patch_match/patch_match_box_stack.cuh"
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

template <int kWindow>
class BoxNearest {
 public:
  using Box = BoxBytes<kWindow>;

  __device__ __forceinline__ BoxNearest(const PatchBoxArguments& box, const BoxMemory<kWindow>& memory)
      : box_(box),
        memory_(memory),
        tile_(box),
        lane_(static_cast<int>(threadIdx.x) % 32),
        unit_x_(box_unit_x()),
        unit_y_(box_unit_y()) {}

  /// Is there a reference of this number?
  [[nodiscard]] __device__ __forceinline__ bool has(int number) const {
    return tile_.is_reference(unit_x_ + box_along_x(number), unit_y_ + box_along_y(number), box_along_z(number));
  }
  /// Finds the stacks, of which two lanes have the same, of so many candidates that begin there in the warp's list.
  /// Returns whether some passed what a key holds, and a stack has room for them. All lanes call it.
  __device__ __forceinline__ bool find(int begin, int count, BoxStack& stack) const {
    const Words own(*this, word_of_reference(lane_ / 2));
    std::uint32_t* const found = memory_.notes + lane_;
    const std::uint16_t* const list = memory_.lists + begin;
    const int most_of_key = min(box_.most_distance, Box::kMostOfKeys);
    int most = count;
#pragma unroll
    for (int apart = 2; apart < 32; apart *= 2) most = max(most, __shfl_xor_sync(kWarp, most, apart));
    bool is_beyond = false;
    stack.clear();
#pragma unroll 1
    for (int from = 0; from < most; from += 2 * Box::kPlaces) {
      const int end = min((most - from + 1) / 2, Box::kPlaces);  // of a lane
#pragma unroll 1
      for (int i = 0; i < end; ++i) {
        const int at = from + 2 * i + lane_ % 2;
        const int number = at < count ? list[at] : 0;
        const int distance = own.distance(*this, word_of(number));
        const bool is_kept = at < count && distance <= most_of_key;
        is_beyond = is_beyond || (at < count && distance > Box::kMostOfKeys && distance <= box_.most_distance);
        found[32 * i] = is_kept ? static_cast<std::uint32_t>(distance << Box::kNumberBits | number) : kNoKey;
      }
      std::uint32_t keys[Box::kPlaces];
#pragma unroll
      for (int i = 0; i < Box::kPlaces; ++i) keys[i] = i < end ? found[32 * i] : kNoKey;
      sort_keys(keys);
      if (from == 0) {
#pragma unroll
        for (int i = 0; i < Box::kPlaces; ++i) stack.keys[i] = keys[i];
      } else {
        stack.merge(keys);
      }
    }
    stack.merge_with_lane(1);
    const unsigned beyond = __ballot_sync(kWarp, is_beyond);
    return (beyond >> lane_ / 2 * 2 & 3U) != 0 && stack.keys[Box::kPlaces - 1] == kNoKey;
  }
  /// Writes the stacks of the references that bits are given of. All lanes call it.
  __device__ __forceinline__ void write(const BoxStack& stack, unsigned references) const {
    constexpr int kRow = Box::kPlaces + 1;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < Box::kPlaces; ++i) {
      if (i % 2 == lane_ % 2) memory_.notes[lane_ / 2 * kRow + i] = stack.keys[i];
    }
    __syncwarp();
    const PatchArguments& match = box_.match;
    const int places = static_cast<int>(match.max_patches);
    const int place = lane_ % Box::kPlaces;
    const int half = lane_ / Box::kPlaces;
    const Strides strides(match);
    const std::int64_t first_voxel = tile_.first_candidate(0, 0);
    const std::int64_t first = tile_.reference(unit_x_ + half, unit_y_, 0);
    const std::int64_t of_plane = match.references[1] * match.references[0];
#pragma unroll 2
    for (int i = 0; i < Box::kReferences / 2; ++i) {
      const std::uint32_t key = memory_.notes[(2 * i + half) * kRow + place];
      const unsigned kept = __ballot_sync(kWarp, place < places && key != kNoKey);
      if (place >= places || (references >> (2 * i + half) & 1U) == 0) continue;
      const std::int64_t reference = first + box_along_y(2 * i) * match.references[0] + box_along_z(2 * i) * of_plane;
      if (place == 0) match.counts[reference] = __popc(kept >> half * Box::kPlaces & 0xffffU);
      write_place(reference * places + place, first_voxel, strides,
                  static_cast<int>(key & ((1U << Box::kNumberBits) - 1)), static_cast<int>(key >> Box::kNumberBits),
                  key != kNoKey);
    }
  }
  /// Finds and writes the stack of a reference, a candidate a lane, in the order of their numbers. Where as many equal
  /// it as a stack has places, none that follows is nearer.
  __device__ __forceinline__ void find_together(int number) const {
    const Words own(*this, word_of_reference(number));
    const int width[3] = {this->width(0), this->width(1), this->width(2)};
    const int first_number = (box_along_z(number) << Box::kPlaneBits) + (unit_y_ + box_along_y(number)) * Box::kRow +
                             unit_x_ + box_along_x(number);
    const int candidates = width[0] * width[1] * width[2];
    std::uint64_t mine = kNone;  // of lane i the i-th key
    std::uint64_t last = kNone;  // of all places
#pragma unroll 1
    for (int some = 0; some < candidates; some += 32) {
      const int of_lane = min(some + lane_, candidates - 1);
      const int row = of_lane / width[0];
      const int plane = row / width[1];
      const int at =
          first_number + (plane << Box::kPlaneBits) + (row - plane * width[1]) * Box::kRow + (of_lane - row * width[0]);
      const int norm = memory_.norms[at + (at >> Box::kPlaneBits) * (Box::kNormPlane - (1 << Box::kPlaneBits))];
      const int distance = own.distance(*this, word_of(at));
      const std::uint64_t key = std::uint64_t{static_cast<unsigned>(distance)} << 32 | static_cast<unsigned>(at);
      const bool is_kept = some + lane_ < candidates && norm != Box::kNoNorm && distance <= box_.most_distance;
#pragma unroll 1
      for (unsigned left = __ballot_sync(kWarp, is_kept && key < last); left != 0; left &= left - 1) {
        const std::uint64_t other = __shfl_sync(kWarp, key, __ffs(static_cast<int>(left)) - 1);
        const std::uint64_t before = __shfl_up_sync(kWarp, mine, 1);
        const int place = __popc(__ballot_sync(kWarp, mine < other));
        mine = lane_ < place ? mine : lane_ == place ? other : before;
      }
      last = __shfl_sync(kWarp, mine, Box::kPlaces - 1);
      if (last >> 32 == 0) break;
    }
    const PatchArguments& match = box_.match;
    const int places = static_cast<int>(match.max_patches);
    const unsigned kept = __ballot_sync(kWarp, lane_ < places && mine != kNone);
    if (lane_ >= places) return;
    const std::int64_t reference =
        tile_.reference(unit_x_ + box_along_x(number), unit_y_ + box_along_y(number), box_along_z(number));
    if (lane_ == 0) match.counts[reference] = __popc(kept);
    write_place(reference * places + lane_, tile_.first_candidate(0, 0), Strides(match), static_cast<int>(mine),
                static_cast<int>(mine >> 32), mine != kNone);
  }

 private:
  static constexpr unsigned kWarp = 0xffffffffU;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// A patch.
  struct Words {
    static constexpr int kSide = Box::kPatch;
    std::uint32_t at[kSide][kSide];

    __device__ __forceinline__ Words(const BoxNearest& nearest, int word) {
#pragma unroll
      for (int i = 0; i < kSide * kSide; ++i) at[i / kSide][i % kSide] = nearest.word_at(word, i);
    }
    [[nodiscard]] __device__ __forceinline__ int distance(const BoxNearest& nearest, int word) const {
      unsigned sums[kSide] = {};
#pragma unroll
      for (int i = 0; i < kSide * kSide; ++i) {
        const unsigned apart = __vabsdiffu4(at[i / kSide][i % kSide], nearest.word_at(word, i));
        sums[i / kSide] = __dp4a(apart, apart, sums[i / kSide]);
      }
      return static_cast<int>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
  };
  /// From one row of voxels to the next, and from one plane.
  struct Strides {
    std::int64_t row;
    std::int64_t plane;

    __device__ __forceinline__ explicit Strides(const PatchArguments& match)
        : row(match.size[0]), plane(match.size[0] * match.size[1]) {}
  };

  [[nodiscard]] __device__ __forceinline__ std::uint32_t word_at(int word, int i) const {
    return memory_.words[word + i / Box::kPatch * Box::kWordPlane + i % Box::kPatch * Box::kRow];
  }
  [[nodiscard]] __device__ __forceinline__ int width(int axis) const {
    return kWindow == 0 ? static_cast<int>(box_.match.window[axis]) : kWindow;
  }
  [[nodiscard]] static __device__ __forceinline__ int word_of(int number) {
    return number + (number >> Box::kPlaneBits) * (Box::kWordPlane - (1 << Box::kPlaneBits));
  }
  [[nodiscard]] __device__ __forceinline__ int word_of_reference(int number) const {
    return (width(2) / 2 + box_along_z(number)) * Box::kWordPlane +
           (width(1) / 2 + unit_y_ + box_along_y(number)) * Box::kRow + width(0) / 2 + unit_x_ + box_along_x(number);
  }
  __device__ __forceinline__ void write_place(std::int64_t at, std::int64_t first_voxel, const Strides& strides,
                                              int number, int distance, bool is_kept) const {
    const int of_plane = number & ((1 << Box::kPlaneBits) - 1);
    const int y = of_plane / Box::kRow;
    const std::int64_t index =
        first_voxel + (number >> Box::kPlaneBits) * strides.plane + y * strides.row + (of_plane - y * Box::kRow);
    PatchUint8::distances(box_.match)[at] = is_kept ? std::int64_t{distance} : PatchUint8::empty();
    box_.match.indices[at] = is_kept ? index : -1;
  }

  const PatchBoxArguments& box_;
  const BoxMemory<kWindow>& memory_;
  BoxTile tile_;
  int lane_;
  int unit_x_;
  int unit_y_;
};

}  // namespace tessera::cuda
