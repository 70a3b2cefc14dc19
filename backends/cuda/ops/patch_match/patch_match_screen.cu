// patch_match, packed_key, for floats and 16 bits: a group a tile of references, whose candidates' voxels all lie in
// shared memory as floats.
//
//   region of a tile      a warp         A thread has one reference and walks over its window, 2 rows of up to 11
//   +-----------------+   8 references   candidates at a time: a row of voxels is read once for both. Voxels are
//   | +-------------+ |   along x, 4     subtracted and squares added, fused, two operations in place of three and none
//   | | references  | |   along z; or    of 64 bits: so the sums are near the distances, but not the same bits.
//   | +-------------+ |   32 along x     They screen: a list of the nearest, a few more than the stack has places, is
//   +-----------------+                  kept by them, 32 bits each. The listed ones' distances are then found as
//                                        defined (decision 0017), sorted, and written.
//
// All others lie at the last listed sum or beyond it. Where the last distance kept is below what that sum stands for at
// least, no other can be among the stack; else the reference's count is left at -1, and a second launch, of
// patch_match_packed_key.cu, finds its stack. That happens where many candidates tie.
//
// Patches of 4 x 4 x 4 are screened by norms and products first, one operation a voxel: patch_match_screen_norms.cuh.
// Their sums are less near. What they leave of a warp's references, all its lanes find together, candidate by candidate
// (patch_match_screen_exact.cuh), but where they leave many, which are screened again by differences.
//
// A window's rows are walked over whole, also where the volume ends: a candidate that does not exist is masked.
#include "ops/patch_match/patch_match_screen_thread.cuh"

namespace tessera::cuda {

namespace {

template <class Types, int kPatch, int kLanes, int kPlaces>
__device__ __forceinline__ void screen(const PatchScreenArguments& screen) {
  extern __shared__ __align__(16) float shared[];
  const PatchArguments& match = screen.match;
  const int voxels = screen.plane * screen.region[2];
  const ScreenRegion<Types> region(screen, shared);
  region.load();
  __syncthreads();
  std::int64_t number[3];
  int at[3];
  bool is_left = true;  // has its stack not been found?
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    number[axis] = region.number(axis);
    is_left = is_left && number[axis] < match.references[axis];
    // The last of them: all lanes of a warp stay.
    if (number[axis] >= match.references[axis]) number[axis] = match.references[axis] - 1;
    at[axis] = region.from_first(axis, region.place(axis, number[axis]));
  }
  const std::int64_t reference = (number[2] * match.references[1] + number[1]) * match.references[0] + number[0];
  const PatchWindow window(match, reference);
  ScreenThread<Types, kPatch, kLanes, kPlaces> thread(
      screen, window, region.at(at[0], at[1], at[2]),
      shared + voxels + threadIdx.x / 32 * (32 * kLanes) + threadIdx.x % 32);
  auto limit = first_unkept_sum<typename Types::Sum>(match);
  if constexpr (kPatch == kScreenNormPatch) {
    if (is_left && thread.begin_by_norms()) {
      thread.template look<true>();
      is_left = !thread.write(window, reference, limit);
    }
    unsigned left = __ballot_sync(kScreenWarp, is_left);
    if (__popc(left) <= kScreenTogether) {
#pragma unroll 1
      for (; left != 0; left &= left - 1) {
        const int owner = __ffs(static_cast<int>(left)) - 1;
        find_stack_together<Types, kPatch, kPlaces>(screen, shared, thread.window_in(shared), limit, owner, window,
                                                    reference);
      }
      return;
    }
  }
  if (!is_left) return;
  thread.begin_by_differences();
  thread.template look<false>();
  if (!thread.write(window, reference, limit)) match.counts[reference] = -1;
}

}  // namespace

}  // namespace tessera::cuda

#define TESSERA_PATCH_SCREEN(Types, name, patch, lanes, places)                                  \
  extern "C" __global__ void __launch_bounds__(32 * tessera::cuda::screen_most_warps(places), 1) \
      tessera_patch_match_screen_##name##_##patch##_##lanes##_##places(                          \
          const __grid_constant__ tessera::cuda::PatchScreenArguments arguments) {               \
    tessera::cuda::screen<Types, patch, lanes, places>(arguments);                               \
  }
#define TESSERA_PATCH_SCREEN_PLACES(Types, name, patch, lanes) \
  TESSERA_PATCH_SCREEN(Types, name, patch, lanes, 16)          \
  TESSERA_PATCH_SCREEN(Types, name, patch, lanes, 32)          \
  TESSERA_PATCH_SCREEN(Types, name, patch, lanes, 64)
#define TESSERA_PATCH_SCREEN_OF(Types, name)      \
  TESSERA_PATCH_SCREEN_PLACES(Types, name, 0, 8)  \
  TESSERA_PATCH_SCREEN_PLACES(Types, name, 0, 11) \
  TESSERA_PATCH_SCREEN_PLACES(Types, name, 4, 8)  \
  TESSERA_PATCH_SCREEN_PLACES(Types, name, 4, 11)
#define TESSERA_PATCH_SCREEN_NORMS(Types, name)                                                                        \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kPatchThreads)                                           \
      tessera_patch_match_screen_norms_##name(const __grid_constant__ tessera::cuda::PatchScreenArguments arguments) { \
    tessera::cuda::find_screen_norms<Types>(arguments);                                                                \
  }
TESSERA_PATCH_SCREEN_NORMS(tessera::cuda::PatchUint16, uint16)
TESSERA_PATCH_SCREEN_NORMS(tessera::cuda::PatchFloat32, float32)
TESSERA_PATCH_SCREEN_OF(tessera::cuda::PatchUint16, uint16)
TESSERA_PATCH_SCREEN_OF(tessera::cuda::PatchFloat32, float32)
