// patch_match, box_sums for bytes: a warp's walk over the candidates of its references, and their products.
//
//   a column  eight candidates side by side, 4 along x and 2 along y, and those behind them along z
//   a step    along z: of the 16 words of a candidate's patch four are new, one for each lane, since lane t of four
//             holds those of its row t. The word that is new takes the place of the oldest, and the references' words,
//             which stay in registers, are there in all four turns.
//
//             step 0   | z0 | z1 | z2 | z3 |
//             step 1   | z4 | z1 | z2 | z3 |
#pragma once

#include "cuda_matrix_products.cuh"
#include "ops/patch_match/patch_match_box_bytes.cuh"

namespace tessera::cuda {

/// Windows have the side kWindow; 0: they are asked for.
template <int kWindow>
class BoxColumns {
 protected:
  using Box = BoxBytes<kWindow>;

  __device__ __forceinline__ BoxColumns(const PatchBoxArguments& box, const BoxMemory<kWindow>& memory)
      : box_(box),
        memory_(memory),
        group_(static_cast<int>(threadIdx.x) % 32 / 4),
        t_(static_cast<int>(threadIdx.x) % 4),
        unit_x_(box_unit_x()),
        unit_y_(box_unit_y()) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int word = number_of_reference(group_ + 8 * r) + t_ * Box::kRow;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        // Read twice, so that each pair of words has registers of its own.
        const volatile std::uint32_t* const from = memory.words + word;
        own_[k][r] = from[k * Box::kWordPlane];
        own_[k][r + 2] = from[(k + 1) % 4 * Box::kWordPlane];
      }
    }
  }

  /// The word at which a reference's patch begins.
  [[nodiscard]] __device__ __forceinline__ int number_of_reference(int number) const {
    return (width(2) / 2 + box_along_z(number)) * Box::kWordPlane +
           (width(1) / 2 + unit_y_ + box_along_y(number)) * Box::kRow + width(0) / 2 + unit_x_ + box_along_x(number);
  }
  /// Goes along z. `begin` sets what the sums of a step begin at, `look` gets them.
  template <class Begin, class Look>
  __device__ __forceinline__ void walk(int first_x, int first_y, const Begin& begin, const Look& look) const {
    const std::uint32_t* const words = memory_.words + (unit_y_ + first_y + group_ / Box::kColumnsX + t_) * Box::kRow +
                                       unit_x_ + first_x + group_ % Box::kColumnsX;
    std::uint32_t at[4] = {words[0], words[Box::kWordPlane], words[2 * Box::kWordPlane], 0};
#pragma unroll
    for (int step = 0; step < Box::kSteps; ++step) {
      if (kWindow == 0 && step >= steps()) break;
      at[(step + 3) % 4] = words[(step + 3) * Box::kWordPlane];
      int sums[4];
      begin(step, sums);
      multiply_16x8(sums, own_[(4 - step % 4) % 4], at[0], at[1]);
      multiply_16x8(sums, own_[(6 - step % 4) % 4], at[2], at[3]);
      look(step, sums);
    }
  }
  [[nodiscard]] __device__ __forceinline__ int width(int axis) const {
    return kWindow == 0 ? static_cast<int>(box_.match.window[axis]) : kWindow;
  }
  [[nodiscard]] __device__ __forceinline__ int rows() const {
    return width(1) + Box::kUnitY - 1;
  }
  [[nodiscard]] __device__ __forceinline__ int steps() const {
    return width(2) + Box::kUnitZ - 1;
  }
  static __device__ __forceinline__ bool is_below(int a, int b) {
    return static_cast<unsigned>(a) < static_cast<unsigned>(b);
  }
  /// Is the candidate at this step along z in the window of the lane's reference?
  [[nodiscard]] __device__ __forceinline__ bool is_within(int r, int step) const {
    const int first = 2 * r;  // or one more
    if (kWindow != 0 && step > first && step < first + kWindow) return true;
    if (kWindow != 0 && (step < first || step > first + kWindow)) return false;
    return is_below(step - first - group_ / 4, width(2));
  }

  const PatchBoxArguments& box_;
  const BoxMemory<kWindow>& memory_;
  int group_;  ///< of four lanes, and the place in it
  int t_;
  int unit_x_;  ///< of the warp's first reference, from the tile's
  int unit_y_;
  unsigned own_[4][4];  ///< pairs of words, one behind the other along z, of both references
};

}  // namespace tessera::cuda
