// patch_match, packed_key: one thread a reference, kPatchLanes candidates next to each other along x at a time. Here
// voxel by voxel, for floats and 16 bits, and bytes whose sums pass 32; others: patch_match_packed_key_words.cu. Where
// a tile of floats or of 16 bits fits into shared memory, patch_match_screen.cu goes first and leaves few references.
//
//   row of the volume     a b c d e f g ...       A thread holds the candidates' sums; each voxel of the reference is
//   reference's voxel 0   r r r r                 subtracted from as many voxels of a row. A row of the candidates'
//   reference's voxel 1     s s s s               voxels is read once where the patch has 4 of them along each axis,
//   sums of candidates    . . . .                 and once for each four of the reference's else.
//
// After a plane of the patch the sums are compared with the last distance kept: sums never fall, so where none is
// nearer the rest is left out. Voxels come through the first-level cache: neighbouring threads have neighbouring
// references.
#include "ops/patch_match/patch_match_keys.cuh"

namespace tessera::cuda {

/// kPatch: the patch's voxels along each axis where the loops are made for them, else 0.
template <class Types, int kPatch>
class VoxelFinder {
 public:
  using Voxel = typename Types::Voxel;
  using Sum = typename Types::Sum;

  __device__ VoxelFinder(const PatchArguments& match, std::int64_t reference)
      : match_(match), reference_(Types::volume(match) + reference) {}

  __device__ __forceinline__ void find(std::int64_t x, std::int64_t y, std::int64_t z, int count, Sum limit,
                                       Sum (&found)[kPatchLanes]) const {
    const Voxel* const candidates = Types::volume(match_) + (z * match_.size[1] + y) * match_.size[0] + x;
    if (count == kPatchLanes) {
      find_all(
          candidates, [](int i, int) { return i; }, limit, found);
    } else {
      // Candidates that do not exist are taken for the last one.
      find_all(
          candidates, [last = count - 1](int i, int others) { return min(i, last + others); }, limit, found);
    }
  }

 private:
  /// `place(i, n)`: of the voxel i of a row that the candidates' patches share, n voxels of each.
  template <class Place>
  __device__ __forceinline__ void find_all(const Voxel* candidates, const Place& place, Sum limit,
                                           Sum (&found)[kPatchLanes]) const {
    clear(found);
#pragma unroll 1
    for (std::int64_t plane = 0; plane < (kPatch > 0 ? kPatch : match_.patch[2]); ++plane) {
      Sum rows[kPatchLanes];
      clear(rows);
#pragma unroll 1
      for (std::int64_t row = 0; row < (kPatch > 0 ? kPatch : match_.patch[1]); ++row) {
        const std::int64_t first = (plane * match_.size[1] + row) * match_.size[0];
        Sum sums[kPatchLanes];
        clear(sums);
        if constexpr (kPatch > 0) {
          add_voxels<kPatch>(reference_ + first, candidates + first, place, sums);
        } else {
          add_row(reference_ + first, candidates + first, place, sums);
        }
        add(sums, rows);
      }
      add(rows, found);
      bool is_nearer = false;
#pragma unroll
      for (int i = 0; i < kPatchLanes; ++i) is_nearer = is_nearer || found[i] < limit;
      if (!is_nearer) return;
    }
  }
  static __device__ __forceinline__ void clear(Sum (&sums)[kPatchLanes]) {
#pragma unroll
    for (int i = 0; i < kPatchLanes; ++i) sums[i] = 0;
  }
  static __device__ __forceinline__ void add(const Sum (&sums)[kPatchLanes], Sum (&to)[kPatchLanes]) {
#pragma unroll
    for (int i = 0; i < kPatchLanes; ++i) to[i] = Types::add(to[i], sums[i]);
  }
  /// kVoxels of a reference's row, and as many of each candidate's: what the candidates share is read once.
  template <int kVoxels, class Place>
  static __device__ __forceinline__ void add_voxels(const Voxel* reference, const Voxel* candidates, const Place& place,
                                                    Sum (&sums)[kPatchLanes]) {
    Voxel voxels[kPatchLanes + kVoxels - 1];
#pragma unroll
    for (int i = 0; i < kPatchLanes + kVoxels - 1; ++i) voxels[i] = candidates[place(i, kVoxels - 1)];
#pragma unroll
    for (int x = 0; x < kVoxels; ++x) {
      const Voxel voxel = reference[x];
#pragma unroll
      for (int i = 0; i < kPatchLanes; ++i) sums[i] = Types::add(sums[i], Types::square(voxel, voxels[i + x]));
    }
  }
  template <class Place>
  __device__ __forceinline__ void add_row(const Voxel* reference, const Voxel* candidates, const Place& place,
                                          Sum (&sums)[kPatchLanes]) const {
    constexpr int kTogether = 4;
    std::int64_t x = 0;
#pragma unroll 1
    for (; x + kTogether <= match_.patch[0]; x += kTogether) {
      add_voxels<kTogether>(reference + x, candidates + x, place, sums);
    }
#pragma unroll 1
    for (; x < match_.patch[0]; ++x) add_voxels<1>(reference + x, candidates + x, place, sums);
  }

  const PatchArguments& match_;
  const Voxel* reference_;
};

template <class Types, int kPatch, int kPlaces>
__device__ __forceinline__ void match_voxels(const PatchArguments& match) {
  const std::int64_t reference = static_cast<std::int64_t>(blockIdx.x) * kPatchThreads + threadIdx.x;
  if (reference >= references_of(match)) return;
  if (match.is_second != 0 && match.counts[reference] >= 0) return;
  const PatchWindow window(match, reference);
  match_by_keys<Types, std::uint64_t, kPlaces>(match, window, reference,
                                               VoxelFinder<Types, kPatch>(match, window.reference));
}

}  // namespace tessera::cuda

// blocks: that fit on a multiprocessor together, with up to 16 places
#define TESSERA_PATCH_PACKED(Types, name, patch, places, blocks)                     \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kPatchThreads, blocks) \
      tessera_patch_match_packed_key_##name##_##patch##_##places(                    \
          const __grid_constant__ tessera::cuda::PatchArguments match) {             \
    tessera::cuda::match_voxels<Types, patch, places>(match);                        \
  }
#define TESSERA_PATCH_PACKED_OF(Types, name, patch, blocks) \
  TESSERA_PATCH_PACKED(Types, name, patch, 4, blocks)       \
  TESSERA_PATCH_PACKED(Types, name, patch, 16, blocks)      \
  TESSERA_PATCH_PACKED(Types, name, patch, 64, 2)

TESSERA_PATCH_PACKED_OF(tessera::cuda::PatchUint8Wide, uint8_wide, 0, 2)
TESSERA_PATCH_PACKED_OF(tessera::cuda::PatchUint16, uint16, 0, 2)
TESSERA_PATCH_PACKED_OF(tessera::cuda::PatchUint16, uint16, 4, 3)
TESSERA_PATCH_PACKED_OF(tessera::cuda::PatchFloat32, float32, 0, 3)
TESSERA_PATCH_PACKED_OF(tessera::cuda::PatchFloat32, float32, 4, 4)
