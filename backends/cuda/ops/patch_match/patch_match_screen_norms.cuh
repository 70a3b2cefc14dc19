// patch_match, packed_key, for floats and 16 bits: sums by norms and products, one operation a voxel in the place of
// two.
//
//   a, b      voxels of the reference's and a candidate's patch      m, n   their means, rounded
//   p = a - m
//
//   sum (a - b)^2  =  |p|^2 + 2 m (sum of p)  +  |b - n|^2 + 64 (n - m)^2  -  2 p b   +  2 (n - m) (sum of b - n)
//
// |b - n|^2 and 8 n of all places lie in memory; the last term, which is nearly 0, is left out. Nothing here grows with
// the square of the voxels themselves: where they are 100 times as large as what patches differ by, sums still tell the
// nearest ones. How far are they from what is exact? With u = 2^-24, lengths P = |p|, C = 8 |m|, D = sqrt(d) of the
// distance d, so that |b - m| is P + D at most, and 8 |n - m| is D:
//
//   |p|^2               22 u of itself: terms are rounded up to three times, added up by planes of 16, and these
//   2 m (sum of p)      44 u C P, in the same way
//   |b - n|^2           22 u of itself, and so of (P + D)^2
//   64 (n - m)^2        4 u of (P + D)^2, with its addition
//   what is left out    n is off by 10 u of the mean of |b|, so that the sum of b - n is 80 u (P + D + C) at most:
//                       20 u D (P + D + C)
//   2 p b               2 u W |b|, where W is the length of p whose voxels are weighted by 65, 64 .. 2, as many
//                       roundings as each goes through
//   what it begins at   half of the reference's terms, rounded with it 64 times: 64 u P^2
//   the last addition   2 u (P + D)^2
//
// So it is off by u (86 P^2 + 28 (P + D)^2 + 44 C P + (20 D + 2 W) (P + D + C)) at most. A twentieth more stands for
// what is of higher order, but for u^2 C^2, of which there are fewer than 2^12, and which P and D may be less than;
// 2^-125 stands for what underflows. Sums begin lower by this at d = 0, and are 0 at least: so all patches that equal
// the reference have the sum 0, and NaN has it as well. Those of the nearest 20 are listed, and their distances found
// as they are defined.
#pragma once

#include <cmath>

#include "ops/patch_match/patch_match_screen.cuh"

namespace tessera::cuda {

/// One load.
[[nodiscard]] __device__ __forceinline__ PatchScreenNorm screen_norm(const PatchScreenNorm* at) {
  const float2 both = __ldg(reinterpret_cast<const float2*>(at));
  return {both.x, both.y};
}

/// One reference's, whose first voxel is `own`, with what is in memory of its place.
class ScreenNorms {
 public:
  ScreenNorms() = default;
  __device__ __forceinline__ ScreenNorms(const PatchScreenArguments& screen, const float* own,
                                         const PatchScreenNorm& norm)
      : is_used_(true), underflow_(screen.underflow), eight_means_(norm.eight_means) {
    float squares = 0;
    float sum = 0;
    float weighted = 0;
    float weight = 65;
#pragma unroll 1
    for (int plane = 0; plane < kScreenNormPatch; ++plane) {
      float plane_squares = 0;
      float plane_sum = 0;
#pragma unroll 1
      for (int row = 0; row < kScreenNormPatch; ++row) {
#pragma unroll
        for (int x = 0; x < kScreenNormPatch; ++x) {
          const float voxel = centred(own[plane * screen.plane + row * screen.row + x]);
          plane_squares = __fmaf_rn(voxel, voxel, plane_squares);
          plane_sum = __fadd_rn(plane_sum, voxel);
          weighted = __fmaf_rn(weight * voxel, weight * voxel, weighted);
          weight -= 1;
        }
      }
      squares = __fadd_rn(squares, plane_squares);
      sum = __fadd_rn(sum, plane_sum);
    }
    weighted_ = sqrtf(weighted);
    length_ = sqrtf(squares);
    begin_ = -0.5F * __fsub_rd(__fmaf_rn(0.25F * eight_means_, sum, squares), apart(0));
  }
  /// Not where its sums might overflow.
  [[nodiscard]] __device__ __forceinline__ bool may_be_used() const {
    return length_ <= 0x1p40F && fabsf(eight_means_) <= 0x1p43F;
  }
  [[nodiscard]] __device__ __forceinline__ float centred(float voxel) const {
    return __fsub_rn(voxel, 0.125F * eight_means_);
  }
  /// What sums of products begin at.
  [[nodiscard]] __device__ __forceinline__ float begin() const {
    return begin_;
  }
  /// Of a candidate, by its norm and products.
  [[nodiscard]] __device__ __forceinline__ float sum(const PatchScreenNorm& norm, float products) const {
    const float apart = __fsub_rn(norm.eight_means, eight_means_);
    return fmaxf(__fmaf_rn(-2.0F, products, __fmaf_rn(apart, apart, norm.squares)), 0.0F);
  }
  /// How far sums of candidates may be from exact ones, whose distance is as large as this or less; 0 where they are
  /// not made of norms.
  [[nodiscard]] __device__ __forceinline__ float apart(float distance) const {
    if (!is_used_) return 0;
    constexpr float kRounding = 1.05F * 0x1p-24F;
    constexpr float kMost = 0x1p66F;  // its square overflows, its product with a length of 0 is no NaN
    const float most_apart = fminf(sqrtf(1.001F * distance + underflow_), kMost);
    const float other = length_ + most_apart;
    const float mean = fabsf(eight_means_);
    const float squares = 86 * length_ * length_ + 28 * other * other + 44 * mean * length_ + 0x1p-12F * mean * mean;
    return kRounding * (squares + (20 * most_apart + 2 * weighted_) * (other + mean)) + 0x1p-125F;
  }

 private:
  bool is_used_ = false;
  float underflow_ = 0;
  float eight_means_ = 0;
  float length_ = 0;
  float weighted_ = 0;
  float begin_ = 0;
};

/// Norms and means of all places: a thread a column of kScreenNormRun of them.
template <class Types>
__device__ __forceinline__ void find_screen_norms(const PatchScreenArguments& screen) {
  constexpr int kPlane = kScreenNormPatch * kScreenNormPatch;
  const PatchArguments& match = screen.match;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * kPatchThreads + threadIdx.x;
  const std::int64_t line = number / match.places[0];
  const std::int64_t x = number - line * match.places[0];
  const std::int64_t run = line / match.places[1];
  const std::int64_t y = line - run * match.places[1];
  const std::int64_t first = run * kScreenNormRun;
  if (first >= match.places[2]) return;
  const std::int64_t left = match.places[2] - first;
  const int planes = static_cast<int>(left < kScreenNormRun ? left : kScreenNormRun) + kScreenNormPatch - 1;
  const auto* plane = Types::volume(match) + (first * match.size[1] + y) * match.size[0] + x;
  PatchScreenNorm* norms = screen.norms + (first * match.places[1] + y) * match.places[0] + x;
  float voxels[kScreenNormPatch][kPlane] = {};  // of the last planes
  float sums[kScreenNormPatch] = {};
#pragma unroll 4
  for (int z = 0; z < planes; ++z, plane += match.size[1] * match.size[0]) {
#pragma unroll
    for (int i = 0; i < kScreenNormPatch - 1; ++i) {
      sums[i] = sums[i + 1];
#pragma unroll
      for (int k = 0; k < kPlane; ++k) voxels[i][k] = voxels[i + 1][k];
    }
    float(&newest)[kPlane] = voxels[kScreenNormPatch - 1];
    float rows[kScreenNormPatch];
#pragma unroll
    for (int i = 0; i < kScreenNormPatch; ++i) {
#pragma unroll
      for (int k = 0; k < kScreenNormPatch; ++k) {
        newest[i * kScreenNormPatch + k] = static_cast<float>(plane[i * match.size[0] + k]);
      }
      const float* const row = newest + i * kScreenNormPatch;
      rows[i] = __fadd_rn(__fadd_rn(row[0], row[1]), __fadd_rn(row[2], row[3]));
    }
    sums[kScreenNormPatch - 1] = __fadd_rn(__fadd_rn(rows[0], rows[1]), __fadd_rn(rows[2], rows[3]));
    if (z < kScreenNormPatch - 1) continue;
    const float eight_means = 0.125F * __fadd_rn(__fadd_rn(sums[0], sums[1]), __fadd_rn(sums[2], sums[3]));
    const float mean = 0.125F * eight_means;
    float squares[kScreenNormPatch];
#pragma unroll
    for (int i = 0; i < kScreenNormPatch; ++i) {
      squares[i] = 0;
#pragma unroll
      for (int k = 0; k < kPlane; ++k) {
        const float voxel = __fsub_rn(voxels[i][k], mean);
        squares[i] = __fmaf_rn(voxel, voxel, squares[i]);
      }
    }
    const float all = __fadd_rn(__fadd_rn(squares[0], squares[1]), __fadd_rn(squares[2], squares[3]));
    *norms = {all, eight_means};
    norms += match.places[0] * match.places[1];
  }
}

}  // namespace tessera::cuda
