// patch_match, box_sums for bytes: patches of 4 x 4 x 4, windows up to 11 along each axis, a reference at every place,
// up to 16 kept.
//
//   a warp      2 x 2 x 4 references, whose candidates are nearly the same: 12 x 12 x 14 where each has 11 x 11 x 11.
//               It multiplies their 16 patches by those of 8 candidates, 4 along x and 2 along y, at a time: 64 bytes
//               each, two products of the tensor cores (m16n8k32). See patch_match_box_columns.cuh.
//   a group     4 x 2 warps: 8 x 4 x 4 references, all candidates' words and norms in shared memory
//
//   distance = norm of reference + norm of candidate - 2 * sum of products. Sums begin at half the candidate's norm,
//   negative, so that a comparison is all that a pair takes. A place whose candidate does not exist has a norm beyond
//   every limit.
//
// Candidates are looked at twice (patch_match_box_bytes_walk.cuh), first for a limit that 16 are within, then for a
// list of all that are: about 20 mostly, since the limit is near the 16th. Of the second walk's sums signs alone are
// kept: the listed ones' distances are found once more, a candidate a lane, sorted and written
// (patch_match_box_nearest.cuh). Windows of 5, 7, 9 and 11 along all axes have programs of their own, whose loops and
// shared memory are made for them.
#include "ops/patch_match/patch_match_box_bytes_walk.cuh"
#include "ops/patch_match/patch_match_box_nearest.cuh"

namespace tessera::cuda {

namespace {

template <int kWindow>
__device__ __forceinline__ void match_box(const PatchBoxArguments& box) {
  constexpr unsigned kWarp = 0xffffffffU;
  extern __shared__ __align__(16) unsigned char shared[];
  const BoxMemory<kWindow> memory(shared);
  load_box(box, memory);
  int counts[2];  // of what is listed of the lane's two references, and where that ends
  int ends[2];
  {
    BoxWalk<kWindow> walk(box, memory);
    walk.find_limits();
    walk.note();
    walk.list(counts, ends);
  }
  __syncwarp();
  const BoxNearest<kWindow> nearest(box, memory);
  // From here on lanes 2 i and 2 i + 1 have reference i, of which four lanes have the list.
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int from = lane % 16 / 2 * 4;
  const int count_of_first = __shfl_sync(kWarp, counts[0], from);
  const int count_of_second = __shfl_sync(kWarp, counts[1], from);
  const int end_of_first = __shfl_sync(kWarp, ends[0], from);
  const int end_of_second = __shfl_sync(kWarp, ends[1], from);
  const int listed = lane < 16 ? count_of_first : count_of_second;
  const int end = lane < 16 ? end_of_first : end_of_second;
  const bool is_listed = end <= BoxBytes<kWindow>::kListed;
  const int count = is_listed ? listed : 0;
  BoxStack stack;
  const bool is_beyond = nearest.find(is_listed ? end - count : 0, count, stack);
  const bool is_there = nearest.has(lane / 2);
  const bool is_found = is_listed && !is_beyond;
  // Every other bit of a ballot.
  const auto references_that = [&](bool are) {
    unsigned bits = __ballot_sync(kWarp, are) & 0x55555555U;
    bits = (bits | bits >> 1) & 0x33333333U;
    bits = (bits | bits >> 2) & 0x0f0f0f0fU;
    bits = (bits | bits >> 4) & 0x00ff00ffU;
    return (bits | bits >> 8) & 0xffffU;
  };
  nearest.write(stack, references_that(is_there && is_found));
#pragma unroll 1
  for (unsigned left = references_that(is_there && !is_found); left != 0; left &= left - 1) {
    nearest.find_together(__ffs(static_cast<int>(left)) - 1);
  }
}

}  // namespace
}  // namespace tessera::cuda

#define TESSERA_PATCH_BOX(window)                                                                          \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::BoxGroup::kThreads,                          \
                                               tessera::cuda::BoxBytes<window>::kGroups)                   \
      tessera_patch_match_box_bytes_##window(const __grid_constant__ tessera::cuda::PatchBoxArguments b) { \
    tessera::cuda::match_box<window>(b);                                                                   \
  }
TESSERA_PATCH_BOX(0)
TESSERA_PATCH_BOX(5)
TESSERA_PATCH_BOX(7)
TESSERA_PATCH_BOX(9)
TESSERA_PATCH_BOX(11)
