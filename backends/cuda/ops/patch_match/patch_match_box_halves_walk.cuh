// patch_match, box_sums for floats and 16 bits, a reference at every place: a warp's walk over the candidates of its
// references, whose sums tell which of them are listed.
//
//   S = products - half the candidate's norm: the larger, the nearer. First all are looked at for limits: of 64 sets of
//   a reference's candidates the largest S each, of which the 16th is one that 16 candidates have or pass. Then all are
//   looked at again, and those noted that are within the limit. Sums begin lower by it, so that a sign tells.
#pragma once

#include "ops/patch_match/patch_match_box_halves_products.cuh"
#include "ops/patch_match/patch_match_box_stack.cuh"

namespace tessera::cuda {

/// One warp's references. A lane has two, which differ by 2 along z. Windows have the side kWindow; 0: they are asked
/// for.
template <class Types, int kWindow>
class HalvesWalk {
 public:
  using Products = HalvesProducts<Types, kWindow>;

  __device__ __forceinline__ HalvesWalk(const PatchBoxArguments& box, const HalvesMemory<Types, kWindow>& memory,
                                        const Products& products)
      : memory_(memory),
        products_(products),
        group_(static_cast<int>(threadIdx.x) % 32 / 4),
        t_(static_cast<int>(threadIdx.x) % 4),
        unit_x_(box_unit_x()),
        unit_y_(box_unit_y()) {
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      width_[axis] = kWindow == 0 ? static_cast<int>(box.match.window[axis]) : kWindow;
    }
    const BoxTile tile(box);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int x = unit_x_ + box_along_x(group_);
      const int y = unit_y_ + box_along_y(group_);
      const int z = box_along_z(group_ + 8 * r);
      is_there_[r] = tile.is_reference(x, y, z);
      const int place = (width_[2] / 2 + z) * Box::kPlane + (width_[1] / 2 + y) * Box::kRow + width_[0] / 2 + x;
      products_.set_reference(r, place, memory);
    }
  }

  /// Finds limits that enough candidates are within.
  __device__ __forceinline__ void find_limits() {
    Sets nearest;
#pragma unroll
    for (int i = 0; i < kSets; ++i) nearest[0][i] = nearest[1][i] = Products::kNoNorm;
#pragma unroll 1
    for (int y = 0; y < width_[1] + Box::kUnitY - 1; y += Box::kColumnsY) {
      look_for_limits<0>(y, nearest);
      look_for_limits<1>(y, nearest);
      look_for_limits<2>(y, nearest);
      turn_sets<3 * kTurn>(nearest);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float limit = products_.limit_of(r, box_sum_of_last(nearest[r]));
      limits_[r] = is_there_[r] ? limit : Products::kBeyondAll;
    }
  }

  /// Notes what is within the limits.
  __device__ __forceinline__ void note() {
    auto* const noted = reinterpret_cast<std::uint32_t*>(memory_.of_warp()) + threadIdx.x % 32;
    columns_[0] = columns_[1] = 0;
    counts_[0] = counts_[1] = 0;
    for_each_column([&](int first_x, int first_y) {
      const int x = first_x + 2 * (t_ % 2);
      const int y = first_y + t_ / 2;
      const float* const norms = memory_.norms + (unit_y_ + y) * Box::kRow + unit_x_ + x;
      unsigned beyond[2] = {};
      products_.walk(
          words_at(first_x, first_y), steps(),
          [&](int step, float(&sums)[4]) {
            const float2 both = *reinterpret_cast<const float2*>(norms + step * Box::kPlane);
#pragma unroll
            for (int r = 0; r < 2; ++r) {
              sums[2 * r] = both.x - limits_[r];
              sums[2 * r + 1] = both.y - limits_[r];
            }
          },
          [&](int, const float(&sums)[4]) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              beyond[i / 2] = __funnelshift_l(Products::sign_of(sums[i]), beyond[i / 2], 1);
            }
          });
      const int column = first_y / Box::kColumnsY * Box::kColumnsAlongX + first_x / Box::kColumnsX;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        if (kWindow == 0) beyond[r] <<= 2 * (Box::kSteps - steps());
        const unsigned within = ~beyond[r] & candidates_of(r, x, y);
        noted[(2 * column + r) * 32] = within;
        columns_[r] |= within != 0 ? 1U << column : 0U;
        counts_[r] += __popc(within);
      }
    });
  }
  /// Lists what is noted, by the place of its first voxel in the tile, one reference after the other; after all warps
  /// have noted theirs. Gives how many there are of both references, and the place behind the last in the warp's list,
  /// which does not hold it if that is beyond kListed.
  __device__ __forceinline__ void list(int (&counts)[2], int (&ends)[2]) const {
    const auto* const noted = reinterpret_cast<const std::uint32_t*>(memory_.of_warp()) + threadIdx.x % 32;
    auto* const listed = memory_.lists();
    int before = 0;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const BoxPlaces places = box_places_in_list(counts_[r], before);
      int at = places.at;
      ends[r] = places.end;
      counts[r] = places.end - places.begin;
      if (ends[r] > Box::kListed) continue;
      unsigned columns = columns_[r];
      unsigned within = 0;
      int first = 0;
      while ((within | columns) != 0) {
        if (within == 0) {
          const int column = __ffs(static_cast<int>(columns)) - 1;
          columns &= columns - 1;
          within = noted[(2 * column + r) * 32];
          const int y = column / Box::kColumnsAlongX;
          const int x = column - y * Box::kColumnsAlongX;
          first =
              (unit_y_ + y * Box::kColumnsY + t_ / 2) * Box::kVoxelRow + unit_x_ + x * Box::kColumnsX + 2 * (t_ % 2);
        }
        const int number = __clz(static_cast<int>(within)) - (32 - kBits);
        within &= ~(1U << (kBits - 1 - number));
        listed[at++] = static_cast<std::uint16_t>(first + number / 2 * Box::kVoxelPlane + number % 2);
      }
    }
    __syncwarp();
  }

 private:
  using Box = BoxHalves<kWindow>;
  static constexpr unsigned kWarp = 0xffffffffU;
  static constexpr int kSets = 16;  ///< of a lane and a reference
  using Sets = float[2][kSets];
  static constexpr int kTurn = 7;                ///< sets from one column to the next
  static constexpr int kBits = 2 * Box::kSteps;  ///< of a column's candidates that a lane has

  /// A column's, the one of this number along x.
  template <int kAlongX>
  __device__ __forceinline__ void look_for_limits(int first_y, Sets& nearest) const {
    constexpr int kFirstX = kAlongX * Box::kColumnsX;
    if (kAlongX >= Box::kColumnsAlongX || (kWindow == 0 && kFirstX >= width_[0] + Box::kUnitX - 1)) return;
    const int x = kFirstX + 2 * (t_ % 2);
    const int y = first_y + t_ / 2;
    const bool is_row = is_below(y - box_along_y(group_), width_[1]);
    const bool is_column[2] = {is_row && is_below(x - box_along_x(group_), width_[0]),
                               is_row && is_below(x + 1 - box_along_x(group_), width_[0])};
    const float* const norms = memory_.norms + (unit_y_ + y) * Box::kRow + unit_x_ + x;
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(norms));
    products_.walk(
        words_at(kFirstX, first_y), steps(),
        [&](int step, float(&sums)[4]) {
          const float2 both = *reinterpret_cast<const float2*>(norms + step * Box::kPlane);
          sums[0] = both.x;
          sums[1] = both.y;
          load_again(sums[2], sums[3], address + 4 * step * Box::kPlane, both.x);
        },
        [&](int step, const float(&sums)[4]) {
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            if (kWindow != 0 && (step < 2 * r || step > 2 * r + kWindow)) continue;
            float& set = nearest[r][(step + kTurn * kAlongX) % kSets];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
              if (is_column[i] && is_within(r, step)) set = fmaxf(set, sums[2 * r + i]);
            }
          }
        });
  }
  /// Of a place in shared memory that was read before, so that nothing is copied. Its first value is given, so that it
  /// is not read earlier.
  static __device__ __forceinline__ void load_again(float& first, float& second, unsigned address, float before) {
    asm("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(first), "=f"(second) : "r"(address), "f"(before));
  }
  template <class Look>
  __device__ __forceinline__ void for_each_column(const Look& look) const {
#pragma unroll 1
    for (int y = 0; y < width_[1] + Box::kUnitY - 1; y += Box::kColumnsY) {
#pragma unroll 1
      for (int x = 0; x < width_[0] + Box::kUnitX - 1; x += Box::kColumnsX) look(x, y);
    }
  }
  /// The lane's words of its candidate.
  [[nodiscard]] __device__ __forceinline__ const std::uint32_t* words_at(int first_x, int first_y) const {
    return memory_.words + (unit_y_ + first_y + group_ / Box::kColumnsX + t_) * Box::kRow + unit_x_ + first_x +
           group_ % Box::kColumnsX;
  }
  /// Bits of a column's candidates, the first of which is this, that are in the reference's window.
  [[nodiscard]] __device__ __forceinline__ unsigned candidates_of(int r, int x, int y) const {
    if (!is_below(y - box_along_y(group_), width_[1])) return 0;
    const int before = 2 * box_along_z(group_ + 8 * r);
    unsigned within = ((1U << 2 * width_[2]) - 1) << (kBits - before - 2 * width_[2]);
    if (!is_below(x - box_along_x(group_), width_[0])) within &= 0x55555555U;
    if (!is_below(x + 1 - box_along_x(group_), width_[0])) within &= 0xaaaaaaaaU;
    return within;
  }
  static __device__ __forceinline__ bool is_below(int a, int b) {
    return static_cast<unsigned>(a) < static_cast<unsigned>(b);
  }
  [[nodiscard]] __device__ __forceinline__ int steps() const {
    return width_[2] + Box::kUnitZ - 1;
  }
  /// Is the candidate at this step along z in the window of the lane's reference?
  [[nodiscard]] __device__ __forceinline__ bool is_within(int r, int step) const {
    const int first = 2 * r;  // or one more
    if (kWindow != 0 && step > first && step < first + kWindow) return true;
    if (kWindow != 0 && (step < first || step > first + kWindow)) return false;
    return is_below(step - first - group_ / 4, width_[2]);
  }

  const HalvesMemory<Types, kWindow>& memory_;
  Products products_;
  int group_;  ///< of four lanes, and the place in it
  int t_;
  int unit_x_;  ///< of the warp's first reference, from the tile's
  int unit_y_;
  int width_[3];
  bool is_there_[2];
  float limits_[2];
  unsigned columns_[2];  ///< that any is noted of
  int counts_[2];        ///< of what is noted
};

}  // namespace tessera::cuda
