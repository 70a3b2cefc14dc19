// denoise, fused: 16 or 32 threads of a warp filter a stack, from its voxels to the sums. Stacks come from patch_match,
// and of a round so many that their indices stay in the second-level cache.
//
//   volume              shared memory                A thread gathers one voxel of every patch (neighbours read
//   [ ][ ][ ]           voxel 0: patch 0, 1, 2 ..    neighbours), transforms whole patches, takes one voxel's members
//   patches of  ------> voxel 1: patch 0, 1, 2 ..    through Haar's transform, the shrinking and back, transforms
//   a stack             ...      and one place more  patches back, and adds one voxel of every patch. A stack's threads
//                                                    are of one warp, so that nobody else waits, and nothing goes
//   sums <------------- estimates                    through the card's memory. A voxel's members take an odd number of
//                                                    places: neither those of one voxel nor the voxels of one patch
//                                                    meet in a bank.
//
// The Wiener filter has the basic estimate's patches in a second array. Sums are added to by pairs of threads, one for
// the estimate, one for the weight, so that a row of a patch is one stretch of memory. Patches of 8 x 8 and 4 x 4 x 4
// voxels, of the Wiener filter also of 6 x 6 and 7 x 7, and stacks of up to 16 or 32 of them lie in registers while
// they are transformed; others are transformed line by line in shared memory.
#include "ops/denoise/denoise_fused.cuh"

#define TESSERA_DENOISE_FUSED(Voxel, type, step, is_wiener, shape, Shape, places, blocks)  \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kFusedThreads, blocks)       \
      tessera_denoise_fused_##type##_##step##_##shape##_##places(                          \
          const __grid_constant__ tessera::cuda::DenoiseArguments denoise) {               \
    tessera::cuda::filter_stacks<Voxel, is_wiener, tessera::cuda::Shape, places>(denoise); \
  }
#define TESSERA_DENOISE_FUSED_STEP(Voxel, type, step, is_wiener, blocks)               \
  TESSERA_DENOISE_FUSED(Voxel, type, step, is_wiener, any, AnyPatch, 0, blocks)        \
  TESSERA_DENOISE_FUSED(Voxel, type, step, is_wiener, square, SquarePatch, 16, blocks) \
  TESSERA_DENOISE_FUSED(Voxel, type, step, is_wiener, square, SquarePatch, 32, blocks) \
  TESSERA_DENOISE_FUSED(Voxel, type, step, is_wiener, cube, CubePatch, 16, blocks)     \
  TESSERA_DENOISE_FUSED(Voxel, type, step, is_wiener, cube, CubePatch, 32, blocks)
#define TESSERA_DENOISE_FUSED_WIENER(Voxel, type, blocks)                                   \
  TESSERA_DENOISE_FUSED_STEP(Voxel, type, wiener, true, blocks)                             \
  TESSERA_DENOISE_FUSED(Voxel, type, wiener, true, square_of_6, SquarePatchOf6, 16, blocks) \
  TESSERA_DENOISE_FUSED(Voxel, type, wiener, true, square_of_6, SquarePatchOf6, 32, blocks) \
  TESSERA_DENOISE_FUSED(Voxel, type, wiener, true, square_of_7, SquarePatchOf7, 16, blocks) \
  TESSERA_DENOISE_FUSED(Voxel, type, wiener, true, square_of_7, SquarePatchOf7, 32, blocks)
// blocks: that fit on a multiprocessor together, by their shared memory
#define TESSERA_DENOISE_FUSED_TYPE(Voxel, type)            \
  TESSERA_DENOISE_FUSED_STEP(Voxel, type, hard, false, 10) \
  TESSERA_DENOISE_FUSED_WIENER(Voxel, type, 6)
TESSERA_DENOISE_TYPES(TESSERA_DENOISE_FUSED_TYPE)
