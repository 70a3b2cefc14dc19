// patch_match, insertion: one group a reference, and one of its threads keeps the stack: the study's first kernel.
//
//   window, in passes                shared memory          All threads compute the distances of a pass; thread 0 looks
//   thread 0 1 2 3 0 1 2 3           +---+---+---+---       at each of them and inserts what is nearer than the last of
//          v v v v v v v v   ->      | d | d | d |          the stack, while the others wait. That takes as long as
//   candidates ...         thread 0  +---+---+---+---       there are candidates, whatever the group has.
//                              v stack
#include "ops/patch_match/patch_match_volume.cuh"

namespace tessera::cuda {

template <class Types>
struct PatchStack {
  typename Types::Stored found[kPatchPass];
  typename Types::Stored distances[kPatchMostPlaces];
  std::int64_t numbers[kPatchMostPlaces];
  int count;

  /// Thread 0's part of a pass.
  __device__ __forceinline__ void insert(std::int64_t first, int length, int places) {
    int kept = count;
    for (int i = 0; i < length; ++i) {
      const typename Types::Stored distance = found[i];
      if (!(distance < distances[places - 1])) continue;
      int place = kept < places ? kept : places - 1;
      for (; place > 0 && distance < distances[place - 1]; --place) {
        distances[place] = distances[place - 1];
        numbers[place] = numbers[place - 1];
      }
      distances[place] = distance;
      numbers[place] = first + i;
      if (kept < places) ++kept;
    }
    count = kept;
  }
};

template <class Types>
__device__ __forceinline__ void match_by_insertion(const PatchArguments& match) {
  __shared__ PatchStack<Types> stack;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const std::int64_t reference = blockIdx.x;
  const PatchWindow window(match, reference);
  const int places = static_cast<int>(match.max_patches);
  const std::int64_t candidates = window.candidates();
  for (int i = thread; i < places; i += threads) stack.distances[i] = Types::empty();
  if (thread == 0) stack.count = 0;
  for (std::int64_t first = 0; first < candidates; first += kPatchPass) {
    const int length = static_cast<int>(candidates - first < kPatchPass ? candidates - first : kPatchPass);
    for (int i = thread; i < length; i += threads) {
      stack.found[i] = kept_patch_distance<Types>(match, window, first + i);
    }
    __syncthreads();
    if (thread == 0) stack.insert(first, length, places);
    __syncthreads();
  }
  for (int i = thread; i < places; i += threads) {
    const std::int64_t place = reference * places + i;
    Types::distances(match)[place] = stack.distances[i];
    match.indices[place] = i < stack.count ? window.index(match, stack.numbers[i]) : -1;
  }
  if (thread == 0) match.counts[reference] = stack.count;
}

}  // namespace tessera::cuda

#define TESSERA_PATCH_INSERTION(Types, name)                                                              \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kPatchMostThreads)                          \
      tessera_patch_match_insertion_##name(const __grid_constant__ tessera::cuda::PatchArguments match) { \
    tessera::cuda::match_by_insertion<Types>(match);                                                      \
  }

TESSERA_PATCH_TYPES(TESSERA_PATCH_INSERTION)
