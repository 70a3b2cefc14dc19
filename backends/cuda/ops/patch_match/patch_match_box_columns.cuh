// patch_match, box_sums for bytes: a warp's walk over the candidates of its references, and their products.
//
//   a step   along z: of the 16 words of a candidate's patch four are new, one for each lane, since lane t of four
//            holds those of its row t. The word that is new takes the place of the oldest, and the references' words,
//            which stay in registers, are there in all four turns.
//
//            step 0   | z0 | z1 | z2 | z3 |
//            step 1   | z4 | z1 | z2 | z3 |
#pragma once

#include "cuda_matrix_products.cuh"
#include "ops/patch_match/patch_match_box_bytes.cuh"

namespace tessera::cuda {

/// Of a warp's references, as rows of the products.
__device__ __forceinline__ int box_along_x(int number) {
  return number % 2;
}
__device__ __forceinline__ int box_along_y(int number) {
  return number / 2 % 2;
}
__device__ __forceinline__ int box_along_z(int number) {
  return number / 4;
}

/// kIsWhole: is the window as large as can be?
template <bool kIsWhole>
class BoxColumns {
 protected:
  using Box = BoxBytes;

  __device__ BoxColumns(const PatchBoxArguments& box, const BoxMemory& memory)
      : box_(box), memory_(memory), group_(static_cast<int>(threadIdx.x) % 32 / 4), t_(threadIdx.x % 4) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    unit_x_ = warp % Box::kWarpsX * Box::kUnitX;
    unit_y_ = warp / Box::kWarpsX * Box::kUnitY;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      width_[axis] = kIsWhole ? Box::kMostWindow : static_cast<int>(box.match.window[axis]);
    }
  }

  /// Eight candidates side by side, and those behind them along z.
  struct Column {
    const std::uint32_t* words;    ///< the lane's word of its candidate
    const std::int32_t* norms[2];  ///< of the two candidates whose sums the lane gets
    std::uint32_t number;          ///< of the first of these
  };
  /// The lane's words of a column's candidates.
  struct Words {
    std::uint32_t at[4];

    /// From an even step on.
    __device__ __forceinline__ Words(const Column& column, int step) {
      const std::uint32_t* const words = column.words + step * Box::kWordPlane;
      const std::uint32_t first = words[0];
      const std::uint32_t third = words[2 * Box::kWordPlane];
      at[0] = step % 4 == 0 ? first : third;
      at[1] = at[3] = words[Box::kWordPlane];
      at[2] = step % 4 == 0 ? third : first;
    }
    __device__ __forceinline__ void multiply_two(const Column& column, int step, const unsigned (&own)[4][4],
                                                 int (&sums)[2][4]) {
#pragma unroll
      for (int k = 0; k < 2; ++k) multiply(column, step + k, own, sums[k]);
    }
    __device__ __forceinline__ void multiply(const Column& column, int step, const unsigned (&own)[4][4],
                                             int (&sums)[4]) {
      at[(step + 3) % 4] = column.words[(step + 3) * Box::kWordPlane];
      sums[0] = sums[2] = column.norms[0][step * Box::kNormPlane];
      sums[1] = sums[3] = column.norms[1][step * Box::kNormPlane];
      multiply_16x8(sums, own[(4 - step % 4) % 4], at[0], at[1]);
      multiply_16x8(sums, own[(6 - step % 4) % 4], at[2], at[3]);
    }
  };

  template <class Look>
  __device__ __forceinline__ void for_each_column(int first, int end, const Look& look) const {
#pragma unroll 1
    for (int y = first; y < end; y += Box::kColumnsY) {
#pragma unroll 1
      for (int x = 0; x < width_[0] + Box::kUnitX - 1; x += Box::kColumnsX) look(column(x, y));
    }
  }
  [[nodiscard]] __device__ __forceinline__ Column column(int first_x, int first_y) const {
    const int unit = unit_y_ * Box::kRow + unit_x_;
    const int word = unit + (first_y + group_ / Box::kColumnsX + t_) * Box::kRow + first_x + group_ % Box::kColumnsX;
    const int x = first_x + 2 * (t_ % 2);
    const int y = first_y + t_ / 2;
    const bool is_row = is_below(y - box_along_y(group_), width_[1]);
    const int at = y * Box::kRow + x;
    const auto norm = [&](int i) {
      return memory_.norms +
             (is_row && is_below(x + i - box_along_x(group_), width_[0]) ? unit + at + i : Box::kNoCandidate);
    };
    return {memory_.words + word, {norm(0), norm(1)}, static_cast<std::uint32_t>(at)};
  }
  static __device__ __forceinline__ bool is_below(int a, int b) {
    return static_cast<unsigned>(a) < static_cast<unsigned>(b);
  }
  [[nodiscard]] __device__ __forceinline__ int rows() const {
    return width_[1] + Box::kUnitY - 1;
  }
  [[nodiscard]] __device__ __forceinline__ int steps() const {
    return width_[2] + Box::kUnitZ - 1;
  }
  /// Is the candidate at this step along z in the window of the lane's reference?
  [[nodiscard]] __device__ __forceinline__ bool is_within(int r, int step) const {
    const int first = 2 * r;  // or one more
    if (kIsWhole && step > first && step < first + Box::kMostWindow) return true;
    if (kIsWhole && (step < first || step > first + Box::kMostWindow)) return false;
    return is_below(step - first - group_ / 4, width_[2]);
  }

  const PatchBoxArguments& box_;
  const BoxMemory& memory_;
  int group_;  ///< of four lanes, and the place in it
  int t_;
  int unit_x_;  ///< of the warp's first reference, from the tile's
  int unit_y_;
  int width_[3];
};

}  // namespace tessera::cuda
