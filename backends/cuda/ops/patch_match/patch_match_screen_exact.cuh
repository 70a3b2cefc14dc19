// patch_match, packed_key, for floats and 16 bits: distances as they are defined, of voxels in shared memory, and a
// stack that all lanes of a warp find together, where sums near the distances do not tell which candidates are nearest.
//
//   lanes         | 0 1 2 .. 31 | 0 1 2 .. 31 | ..     a lane a candidate, in the order of numbers
//   within        |   x      x  |  x          |        A distance is known that enough candidates have or are below, so
//                                                      that few are within it: those are offered to the stack, one
//                                                      after the other. Every lane holds it.
#pragma once

#include "ops/patch_match/patch_match_keys.cuh"
#include "ops/patch_match/patch_match_screen.cuh"

namespace tessera::cuda {

inline constexpr unsigned kScreenWarp = 0xffffffffU;

/// Of two voxels, which are whole numbers of 16 bits or floats.
template <class Types>
[[nodiscard]] __device__ __forceinline__ typename Types::Sum screen_square(float a, float b) {
  if constexpr (std::is_same_v<typename Types::Sum, float>) {
    return Types::square(a, b);
  } else {
    const std::uint32_t apart = __float2uint_rn(fabsf(a - b));  // exact
    return static_cast<typename Types::Sum>(apart * apart);
  }
}

/// Of the patches that begin at these voxels. kPatch: their voxels along each axis, or 0.
template <class Types, int kPatch>
[[nodiscard]] __device__ __forceinline__ typename Types::Sum screen_distance(const PatchScreenArguments& screen,
                                                                             const float* own, const float* candidate) {
  using Sum = typename Types::Sum;
  const auto patch = [&](int axis) { return kPatch > 0 ? kPatch : static_cast<int>(screen.match.patch[axis]); };
  Sum planes = 0;
#pragma unroll 1
  for (int z = 0; z < patch(2); ++z, own += screen.plane, candidate += screen.plane) {
    Sum rows = 0;
#pragma unroll(kPatch > 0 ? kPatch : 1)
    for (int y = 0; y < patch(1); ++y) {
      Sum row = 0;
#pragma unroll 4
      for (int x = 0; x < patch(0); ++x) {
        row = Types::add(row, screen_square<Types>(own[y * screen.row + x], candidate[y * screen.row + x]));
      }
      rows = Types::add(rows, row);
    }
    planes = Types::add(planes, rows);
  }
  return planes;
}

/// Where a reference and the first candidate of its window begin in the region, and how many candidates there are along
/// each axis.
struct ScreenWindow {
  int own;
  int first;
  int count[3];
};

/// Finds and writes the stack of lane `owner`'s reference; all lanes of its warp call it. Enough candidates for a stack
/// are as near as the owner's limit, or there are not so many that are kept.
template <class Types, int kPatch, int kPlaces>
__device__ __forceinline__ void find_stack_together(const PatchScreenArguments& screen, const float* region,
                                                    const ScreenWindow& of_lane, typename Types::Sum limit, int owner,
                                                    const PatchWindow& window, std::int64_t reference) {
  using Sum = typename Types::Sum;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float* own = region + __shfl_sync(kScreenWarp, of_lane.own, owner);
  const float* first = region + __shfl_sync(kScreenWarp, of_lane.first, owner);
  int count[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) count[axis] = __shfl_sync(kScreenWarp, of_lane.count[axis], owner);
  limit = __shfl_sync(kScreenWarp, limit, owner);
  const int candidates = count[0] * count[1] * count[2];
  PatchKeys<Types, std::uint64_t, kPlaces> keys(screen.match);
#pragma unroll 1
  for (int some = 0; some < candidates; some += 32) {
    const int number = min(some + lane, candidates - 1);
    const int line = number / count[0];
    const int x = number - line * count[0];
    const int z = line / count[1];
    const int y = line - z * count[1];
    const Sum found = screen_distance<Types, kPatch>(screen, own, first + z * screen.plane + y * screen.row + x);
    const bool is_within = some + lane < candidates && found <= limit && found < keys.limit();
#pragma unroll 1
    for (unsigned within = __ballot_sync(kScreenWarp, is_within); within != 0; within &= within - 1) {
      const int of = __ffs(static_cast<int>(within)) - 1;
      keys.offer(__shfl_sync(kScreenWarp, found, of), some + of);
    }
  }
  if (lane == owner) keys.write(screen.match, window, reference);
}

}  // namespace tessera::cuda
