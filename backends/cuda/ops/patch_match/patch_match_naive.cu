// patch_match, naive: one thread a reference, its stack in device memory.
//
//   volume                      stack of the thread       A thread compares its patch with every candidate, voxel by
//   +-----------------+         +---+---+---+---          voxel from device memory. One that is nearer than the last of
//   |    +-window-+   |    d    | d | d | d |             the stack is put in its place; what is further moves back.
//   |    | r  c   |   | ------> | i | i | i |             Candidates come in the order of their indices, so of equal
//   |    +--------+   |         +---+---+---+---          ones the later goes behind.
//   +-----------------+
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

template <class Types>
__device__ __forceinline__ void match_alone(const PatchArguments& match) {
  using Stored = typename Types::Stored;
  const std::int64_t reference = static_cast<std::int64_t>(blockIdx.x) * kPatchThreads + threadIdx.x;
  if (reference >= references_of(match)) return;
  const PatchWindow window(match, reference);
  const std::int64_t places = match.max_patches;
  Stored* const distances = Types::distances(match) + reference * places;
  std::int64_t* const indices = match.indices + reference * places;
  for (std::int64_t i = 0; i < places; ++i) {
    distances[i] = Types::empty();
    indices[i] = -1;
  }
  const std::int64_t candidates = window.candidates();
  std::int64_t count = 0;
  for (std::int64_t number = 0; number < candidates; ++number) {
    const std::int64_t candidate = window.candidate(match, number);
    const Stored distance = Types::kept(match, patch_distance<Types>(match, window.reference, candidate));
    if (!(distance < distances[places - 1])) continue;
    std::int64_t place = count < places ? count : places - 1;
    for (; place > 0 && distance < distances[place - 1]; --place) {
      distances[place] = distances[place - 1];
      indices[place] = indices[place - 1];
    }
    distances[place] = distance;
    indices[place] = match.first_voxel + candidate;
    if (count < places) ++count;
  }
  match.counts[reference] = static_cast<std::int32_t>(count);
}

}  // namespace tessera::cuda

#define TESSERA_PATCH_NAIVE(Types, name)                                                              \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kPatchThreads)                          \
      tessera_patch_match_naive_##name(const __grid_constant__ tessera::cuda::PatchArguments match) { \
    tessera::cuda::match_alone<Types>(match);                                                         \
  }

TESSERA_PATCH_TYPES(TESSERA_PATCH_NAIVE)
