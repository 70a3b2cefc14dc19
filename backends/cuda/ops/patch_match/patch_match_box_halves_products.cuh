// patch_match, box_sums for floats and 16 bits, a reference at every place: products of rounded voxels, and how far
// candidates may be that can be kept.
//
//   a plane    of 4 x 4 voxels of a candidate's patch is what one product of the tensor cores takes (m16n8k16), of 16
//              references and 8 candidates. Walking along z, each plane is read once, and multiplied by the references'
//              four: so four candidates behind each other are on their way at a time, and no product waits for the one
//              before.
//
// What is rounded is a patch, and not a distance: the distance of two rounded patches is off by two lengths that are
// 2^-11 of a patch at most, and its sums of products are nearly exact.
//
// In units of the scaled voxels let A and B be the lengths of two patches as fp16 holds them, R that of their
// difference, so that R^2 = A^2 - 2 S, and B is A + R at most.
//   S may be off by E = 2^-15 (A + R)^2: a product of the tensor cores cuts off 17 numbers and its sum, at 2^-23 of
//     the largest at most, which is below 2 (A + R)^2; four of them are 2^-15.8. Norms and what sums begin at add
//     2^-18.
//   As fp16 holds them, voxels are off by 2^-11 of themselves or 2^-25, so patches by 2^-11 of their length and 2^-22:
//     their distance is off by O = 1.01 * 2^-11 (2 A + R) and 2^-21 at most, together with the mean's subtraction.
//   A defined distance of floats is within 2^-17 of the exact one, so its root within 2^-18, and 2^-73.5 beside it.
// 16 candidates have R^2 <= A^2 - 2 T + 2 E, with T the least of theirs, so (A^2 - 2 T + 2^-13 A^2) (1 + 2^-12) =: Q^2
// at most, since (A + R)^2 is below 2 (A^2 + R^2). The 16th's root of a distance is at most Q (1 + 2^-18) + O, and
// whatever is not farther has R <= Q (1 + 2^-17) + 2 O =: L and S >= (A^2 - L^2) / 2 - 2^-15 (A + L)^2, where the last
// term is E with L in the place of R: sums begin lower by this limit. The threshold's root, scaled, takes the place of
// Q where it is less. The program's constants leave a little more for its own roundings.
#pragma once

#include "cuda_matrix_products.cuh"
#include "ops/patch_match/patch_match_box_halves.cuh"

namespace tessera::cuda {

template <class Types, int kWindow>
class HalvesProducts {
 public:
  using Box = BoxHalves<kWindow>;
  using Sum = float;
  static constexpr Sum kNoNorm = kNoHalvesNorm;

  __device__ __forceinline__ HalvesProducts(const PatchBoxArguments& box, const HalvesScale& scale) {
    const float largest =
        std::is_same_v<typename Types::Voxel, float> ? box.match.largest_float : static_cast<float>(box.match.largest);
    most_ = largest < 0 ? -1.0F : sqrtf(largest) * scale.scale * (1 + 0x1p-15F);
  }
  /// Takes the patch at this place as the lane's reference r.
  __device__ __forceinline__ void set_reference(int r, int place, const HalvesMemory<Types, kWindow>& memory) {
    squares_[r] = -2 * memory.norms[place];
#pragma unroll
    for (int k = 0; k < Box::kPatch; ++k) {
      const std::uint32_t* const words = memory.words + place + threadIdx.x % 4 * Box::kRow + k * Box::kPlane;
      own_[k][r] = words[0];
      own_[k][r + 2] = words[2];
    }
  }
  /// Of these words, along z. `begin` sets what the sums of a step begin at, `look` gets them.
  template <class Begin, class Look>
  __device__ __forceinline__ void walk(const std::uint32_t* words, int steps, const Begin& begin,
                                       const Look& look) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float sums[Box::kPatch][4];
#pragma unroll
    for (int plane = 0; plane < Box::kSteps + Box::kPatch - 1; ++plane) {
      if (kWindow == 0 && plane >= steps + Box::kPatch - 1) break;
      const unsigned first = words[plane * Box::kPlane];
      const unsigned second = words[plane * Box::kPlane + 2];
      if (plane < Box::kSteps) begin(plane, sums[plane % Box::kPatch]);
#pragma unroll
      for (int k = Box::kPatch - 1; k >= 0; --k) {
        const int step = plane - k;
        if (step >= 0 && step < Box::kSteps) multiply_16x8(sums[step % Box::kPatch], own_[k], first, second);
      }
      if (plane >= Box::kPatch - 1) look(plane - (Box::kPatch - 1), sums[(plane + 1) % Box::kPatch]);
    }
#endif
  }
  /// Whatever may be kept has this sum or a larger one, where 16 have `last` or larger ones.
  [[nodiscard]] __device__ __forceinline__ Sum limit_of(int r, Sum last) const {
    constexpr float kAll = -0x1p40F;
    if (most_ < 0) return kBeyondAll;
    const float length = sqrtf(squares_[r]);
    const float found = fmaxf(squares_[r] - 2 * last, 0.0F) + 0x1p-13F * squares_[r];
    const float nearest = fminf(sqrtf(found * (1 + 0x1p-12F)), most_);
    const float reach = nearest * (1 + 0x1p-15F) + 0x1.08p-10F * (2 * length + nearest) + 0x1p-14F;
    const float both = length + reach;
    return fmaxf(0.5F * (squares_[r] - reach * reach) - 0x1p-15F * both * both, kAll);
  }
  static constexpr Sum kBeyondAll = 1e30F;
  /// Its highest bit: is it below 0?
  [[nodiscard]] static __device__ __forceinline__ unsigned sign_of(Sum sum) {
    return __float_as_uint(sum);
  }

 private:
  float most_;          ///< length that the threshold keeps
  float squares_[2];    ///< of the references' voxels
  unsigned own_[4][4];  ///< planes of both references
};

}  // namespace tessera::cuda
