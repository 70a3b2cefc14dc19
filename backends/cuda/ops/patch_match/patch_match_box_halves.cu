// patch_match, box_sums for floats and 16 bits: patches of 4 x 4 x 4, windows up to 11 along each axis, a reference at
// every place, up to 16 kept.
//
//   a warp      2 x 2 x 4 references, as for bytes (patch_match_box_bytes.cu): it multiplies their 16 patches by those
//               of 8 candidates at a time, voxels rounded to fp16: four products of the tensor cores (m16n8k16)
//   a group     4 x 2 warps: 8 x 4 x 4 references, and of all their candidates words of fp16, norms, and voxels as they
//               are, in shared memory
//
//   distance = norm of reference + norm of candidate - 2 * sum of products
//
// These distances only screen. All candidates are looked at twice (patch_match_box_halves_walk.cuh), first for a limit
// that 16 are within, then for a list of all that are: about 20 mostly, since the limit is near the 16th, and a bound
// tells how far those may be that rounding makes nearer (patch_match_box_halves_products.cuh). The listed ones'
// distances are found as they are defined (decision 0017), and written in order (patch_match_box_listed.cuh). Where
// ties fill the warp's list, or fp16 does not hold the voxels, all lanes look at a reference together.
#include "ops/patch_match/patch_match_box_halves_walk.cuh"
#include "ops/patch_match/patch_match_box_listed.cuh"

namespace tessera::cuda {

namespace {

template <class Types, int kWindow>
__device__ __forceinline__ void match_box(const PatchBoxArguments& box) {
  using Box = BoxHalves<kWindow>;
  constexpr unsigned kWarp = 0xffffffffU;
  extern __shared__ __align__(16) unsigned char shared[];
  const HalvesMemory<Types, kWindow> memory(shared);
  const HalvesScale scale = load_halves<Types, kWindow>(box, memory);
  int counts[2] = {};  // of what is listed of the lane's two references, and where that ends
  int ends[2] = {Box::kListed + 1, Box::kListed + 1};
  if (scale.scale != 0) {
    HalvesWalk<Types, kWindow> walk(box, memory, HalvesProducts<Types, kWindow>(box, scale));
    walk.find_limits();
    walk.note();
    __syncthreads();
    walk.list(counts, ends);
  }
  const BoxListed<Types, kWindow> listed(box, memory);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // From here on lane i has reference i.
  const int from = lane % 8 * 4;
  const int count_of_first = __shfl_sync(kWarp, counts[0], from);
  const int count_of_second = __shfl_sync(kWarp, counts[1], from);
  const int end_of_first = __shfl_sync(kWarp, ends[0], from);
  const int end_of_second = __shfl_sync(kWarp, ends[1], from);
  const int count = lane < 8 ? count_of_first : count_of_second;
  const int end = lane < 8 ? end_of_first : end_of_second;
  const bool is_there = lane < Box::kReferences && listed.has(lane);
  const bool is_listed = is_there && end <= Box::kListed;
  const bool is_short = is_listed && count <= Box::kTogether;
  const int short_count = is_short ? count : 0;
  const int short_begin = is_short ? end - count : 0;
#pragma unroll 1
  for (int number = lane / 16; number < Box::kReferences; number += 2) {
    const int size = __shfl_sync(kWarp, short_count, number);
    const int begin = __shfl_sync(kWarp, short_begin, number);
    listed.find_distances(number, memory.lists() + begin, size, 0);
  }
  const bool is_tied_of_two = listed.sort(__shfl_sync(kWarp, short_count, lane / 2));
  const bool is_tied = __shfl_sync(kWarp, is_tied_of_two ? 1 : 0, 2 * (lane % Box::kReferences)) != 0;
  const bool is_sorted = is_short && !is_tied;
  const unsigned written = __ballot_sync(kWarp, is_sorted);
  const unsigned found = __ballot_sync(kWarp, is_short);
#pragma unroll 1
  for (int number = lane / 16; number < Box::kReferences; number += 2) {
    const int begin = __shfl_sync(kWarp, short_begin, number);
    listed.write_two(number, memory.lists() + begin, (written >> number & 1U) != 0);
  }
  __syncwarp();
#pragma unroll 1
  for (unsigned left = __ballot_sync(kWarp, is_listed && !is_sorted); left != 0; left &= left - 1) {
    const int number = __ffs(static_cast<int>(left)) - 1;
    const int size = __shfl_sync(kWarp, count, number);
    const int begin = __shfl_sync(kWarp, end - count, number);
    listed.write_long(number, memory.lists() + begin, size, (found >> number & 1U) != 0);
  }
#pragma unroll 1
  for (unsigned left = __ballot_sync(kWarp, is_there && !is_listed); left != 0; left &= left - 1) {
    listed.find_together(__ffs(static_cast<int>(left)) - 1);
  }
}

}  // namespace

}  // namespace tessera::cuda

#define TESSERA_PATCH_BOX_TYPE(Types, type, window)                                                                  \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::BoxGroup::kThreads,                                    \
                                               tessera::cuda::BoxHalves<window>::kGroups)                            \
      tessera_patch_match_box_halves_##type##_##window(const __grid_constant__ tessera::cuda::PatchBoxArguments b) { \
    tessera::cuda::match_box<Types, window>(b);                                                                      \
  }
#define TESSERA_PATCH_BOX(window)                                    \
  TESSERA_PATCH_BOX_TYPE(tessera::cuda::PatchUint16, uint16, window) \
  TESSERA_PATCH_BOX_TYPE(tessera::cuda::PatchFloat32, float32, window)
TESSERA_PATCH_BOX(0)
TESSERA_PATCH_BOX(5)
TESSERA_PATCH_BOX(7)
TESSERA_PATCH_BOX(9)
TESSERA_PATCH_BOX(11)
