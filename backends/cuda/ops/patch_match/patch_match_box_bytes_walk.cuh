// patch_match, box_sums for bytes, a reference at every place: a warp's walk over the candidates of its references,
// whose sums tell which of them are listed.
//
//   S = products - half the candidate's norm, rounded down: the larger, the nearer. First candidates are looked at for
//   limits: of 64 sets of a reference's candidates the largest S each, of which the 16th is one that 16 candidates have
//   or pass. Then all are looked at, and those noted that have it or pass it. Sums begin lower by it, so that a sign
//   tells.
//
//   a note   a word of a column and a reference that has any in it, a bit each from the highest on:
//            | candidates along z that its window holds, two beside each other along x | row | along x | which of two |
#pragma once

#include <climits>

#include "ops/patch_match/patch_match_box_columns.cuh"
#include "ops/patch_match/patch_match_box_stack.cuh"

namespace tessera::cuda {

/// One warp's references. A lane has two, which differ by 2 along z.
template <int kWindow>
class BoxWalk : private BoxColumns<kWindow> {
 public:
  using Box = BoxBytes<kWindow>;

  __device__ __forceinline__ BoxWalk(const PatchBoxArguments& box, const BoxMemory<kWindow>& memory)
      : BoxColumns<kWindow>(box, memory) {}

  /// Finds limits that enough candidates are within, of rows in the middle of the window.
  __device__ __forceinline__ void find_limits() {
    int nearest[2][kSets];
#pragma unroll
    for (int i = 0; i < kSets; ++i) nearest[0][i] = nearest[1][i] = Box::kNoNorm;
    const int middle = max(rows() / 2 - kLimitRows, 0) / 2 * 2;
    const int end = min(middle + 2 * kLimitRows, rows());
#pragma unroll 1
    for (int y = middle; y < end; y += Box::kColumnsY) {
      look_for_limits<0>(y, nearest);
      look_for_limits<1>(y, nearest);
      look_for_limits<2>(y, nearest);
      turn_sets<Box::kColumnsAlongX * kTurn % kSets>(nearest);
    }
    const BoxTile tile(box_);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int number = group_ + 8 * r;
      const int x = unit_x_ + box_along_x(number);
      const int y = unit_y_ + box_along_y(number);
      const int at =
          (width(2) / 2 + box_along_z(number)) * Box::kNormPlane + (width(1) / 2 + y) * Box::kRow + width(0) / 2 + x;
      // Whose distance is not larger than what the threshold keeps has this sum or a larger one: norms are halved.
      const int kept = (1 - 2 * memory_.norms[at] - box_.most_distance) >> 1;
      const int found = box_sum_of_last(nearest[r]);  // all lanes call it
      limits_[r] = tile.is_reference(x, y, box_along_z(number)) ? max(found, kept) : kBeyondAll;
    }
  }

  /// Notes what is within the limits.
  __device__ __forceinline__ void note() {
    noted_ = 0;
    counts_[0] = counts_[1] = 0;
    unsigned id = 0;
#pragma unroll 1
    for (int y = 0; y < rows(); y += Box::kColumnsY, id += 1U << kRowShift) {
      note_column<0>(y, id);
      note_column<1>(y, id);
      note_column<2>(y, id);
    }
  }

  /// Lists what is noted by its number, one reference after the other. Gives how many there are of both references, and
  /// the place behind the last in the warp's list, which does not hold it if that is beyond kListed.
  __device__ __forceinline__ void list(int (&counts)[2], int (&ends)[2]) const {
    const std::uint32_t* const notes = memory_.notes + threadIdx.x % 32;
    const unsigned without = __ballot_sync(kWarp, noted_ > Box::kNotes) >> (4 * group_) & 0xfU;
    int at[2];
    int before = 0;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const BoxPlaces places = box_places_in_list(counts_[r], before);
      at[r] = places.at;
      ends[r] = places.end;
      counts[r] = places.end - places.begin;
      if (without != 0) ends[r] = Box::kListed + 1;
    }
    const int lane_y = unit_y_ + t_ / 2;
    const int lane_x = unit_x_ + 2 * (t_ % 2);
    const int most = min(noted_, Box::kNotes);
    unsigned within = 0;
    int first = 0;
    int which = 0;
    int note = 0;
    while (within != 0 || note < most) {
      if (within == 0) {
        const unsigned word = notes[32 * note++];
        which = static_cast<int>(word & 1U);
        const int y = static_cast<int>(word >> kRowShift & 7U) * Box::kColumnsY + lane_y;
        const int x = static_cast<int>(word >> kAlongXShift & 3U) * Box::kColumnsX + lane_x;
        first = (group_ / 4 + 2 * which) << Box::kPlaneBits | (y * Box::kRow + x);
        within = word & kCandidates;
      }
      const int number = __clz(static_cast<int>(within));
      within &= ~(0x80000000U >> number);
      const int place = which == 0 ? at[0]++ : at[1]++;
      if (place < Box::kListed) {
        memory_.lists[place] = static_cast<std::uint16_t>(first + (number / 2 << Box::kPlaneBits) + number % 2);
      }
    }
    __syncwarp();
  }

 private:
  using Columns = BoxColumns<kWindow>;
  using Columns::box_;
  using Columns::group_;
  using Columns::is_below;
  using Columns::is_within;
  using Columns::memory_;
  using Columns::rows;
  using Columns::steps;
  using Columns::t_;
  using Columns::unit_x_;
  using Columns::unit_y_;
  using Columns::walk;
  using Columns::width;
  static constexpr unsigned kWarp = 0xffffffffU;
  static constexpr int kSets = 16;            ///< of a lane and a reference
  static constexpr int kLimitRows = 4;        ///< pairs of rows that limits are found of
  static constexpr int kTurn = 7;             ///< sets from one column to the next
  static constexpr int kBeyondAll = 1 << 28;  ///< a limit that no sum reaches
  // Of a note.
  static constexpr int kAlongXShift = 1;
  static constexpr int kRowShift = 3;
  static constexpr unsigned kCandidates = ~0x3fU;
  static_assert(2 * Box::kMost <= 26 && Box::kColumnsAlongX <= 4 && Box::kColumnsAlongY <= 8);

  /// A column's, the one of this number along x.
  template <int kAlongX>
  __device__ __forceinline__ void look_for_limits(int first_y, int (&nearest)[2][kSets]) const {
    constexpr int kFirstX = kAlongX * Box::kColumnsX;
    if constexpr (kAlongX < Box::kColumnsAlongX) {
      if (kWindow == 0 && kFirstX >= width(0) + Box::kUnitX - 1) return;
      // Do all references have all of these candidates along x?
      constexpr bool kIsInner = kWindow != 0 && kFirstX >= Box::kUnitX - 1 && kFirstX + Box::kColumnsX <= kWindow;
      const int x = kFirstX + 2 * (t_ % 2);
      const int y = first_y + t_ / 2;
      const bool is_row = is_below(y - box_along_y(group_), width(1));
      const auto norm = [&](int i) {
        const bool is_there = is_row && (kIsInner || is_below(x + i - box_along_x(group_), width(0)));
        return memory_.norms + (is_there ? (unit_y_ + y) * Box::kRow + unit_x_ + x + i : Box::kNoCandidate + i);
      };
      const std::int32_t* const norms[2] = {norm(0), norm(1)};
      walk(
          kFirstX, first_y,
          [&](int step, int(&sums)[4]) {
            if constexpr (kIsInner) {
              const int2 both = *reinterpret_cast<const int2*>(norms[0] + step * Box::kNormPlane);
              sums[0] = sums[2] = both.x;
              sums[1] = sums[3] = both.y;
            } else {
              sums[0] = sums[2] = norms[0][step * Box::kNormPlane];
              sums[1] = sums[3] = norms[1][step * Box::kNormPlane];
            }
          },
          [&](int step, const int(&sums)[4]) {
#pragma unroll
            for (int r = 0; r < 2; ++r) {
              if (kWindow != 0 && (step < 2 * r || step > 2 * r + kWindow)) continue;
              int& set = nearest[r][(step + kTurn * kAlongX) % kSets];
              const int found = __vimax3_s32(set, sums[2 * r], sums[2 * r + 1]);
              set = is_within(r, step) ? found : set;
            }
          });
    }
  }

  /// The same, of what is within the limits.
  template <int kAlongX>
  __device__ __forceinline__ void note_column(int first_y, unsigned row_id) {
    constexpr int kFirstX = kAlongX * Box::kColumnsX;
    if constexpr (kAlongX < Box::kColumnsAlongX) {
      if (kWindow == 0 && kFirstX >= width(0) + Box::kUnitX - 1) return;
      const int x = kFirstX + 2 * (t_ % 2);
      const int y = first_y + t_ / 2;
      const std::int32_t* const norms = memory_.norms + (unit_y_ + y) * Box::kRow + unit_x_ + x;
      unsigned beyond[2] = {};
      walk(
          kFirstX, first_y,
          [&](int step, int(&sums)[4]) {
            const int2 both = *reinterpret_cast<const int2*>(norms + step * Box::kNormPlane);
#pragma unroll
            for (int r = 0; r < 2; ++r) {
              sums[2 * r] = both.x - limits_[r];
              sums[2 * r + 1] = both.y - limits_[r];
            }
          },
          [&](int, const int(&sums)[4]) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              beyond[i / 2] = __funnelshift_l(static_cast<unsigned>(sums[i]), beyond[i / 2], 1);
            }
          });
      // Do all references have all of these candidates along x?
      constexpr bool kIsInner = kWindow != 0 && kFirstX >= Box::kUnitX - 1 && kFirstX + Box::kColumnsX <= kWindow;
      unsigned candidates = is_below(y - box_along_y(group_), width(1)) ? ~(~0U >> 2 * width(2)) : 0U;
      if (!kIsInner && !is_below(x - box_along_x(group_), width(0))) candidates &= 0x55555555U;
      if (!kIsInner && !is_below(x + 1 - box_along_x(group_), width(0))) candidates &= 0xaaaaaaaaU;
      std::uint32_t* const notes = memory_.notes + threadIdx.x % 32;
      const int before = 32 - 2 * steps() + 2 * box_along_z(group_);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const unsigned within = ~(beyond[r] << (before + 4 * r)) & candidates;
        if (within == 0) continue;
        counts_[r] += __popc(within);
        if (noted_ < Box::kNotes) notes[32 * noted_] = within | row_id | kAlongX << kAlongXShift | r;
        ++noted_;
      }
    }
  }

  int limits_[2];  ///< the least sums that are within
  int counts_[2];  ///< of what is noted
  int noted_;      ///< words
};

}  // namespace tessera::cuda
