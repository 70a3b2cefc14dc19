// denoise, columns: a block filters the stacks of a column of references and adds their estimates up in shared memory,
// before anything goes to the sums in the card's memory. For patches of 4 x 4 x 4 voxels, whose stacks lie close.
//
//      x, y: a tile of references     z: layer after layer. The region that a layer's windows reach stands in shared
//      +---------------------+        memory, slice i at place i modulo the ring: voxels, and sums. Between two layers
//      | window of the first |        the slices that no later one reaches are added to the sums in the card's memory:
//      |   r   r   r   r     |        of a tile of 4 x 8 references, 3 voxels from each other, with windows of 11 that
//      |   r   r   r   r     |        is one addition in place of 14 of the stacks' own. Neighbours read a voxel some
//      |  window of the last |        4 times, not once for each patch that it is in.
//      +---------------------+
//
// A warp filters 32 patches at a time, two stacks of up to 16 or one of up to 32:
//   a thread loads a patch and transforms it, all in registers;
//   halves of the patches go through the warp's memory: a thread has a voxel, and takes its members through Haar's
//   transform, the shrinking and back;
//   patches are transformed back, a thread a patch; halves of them go through the warp's memory again, and the warp
//   adds patch after patch, 32 voxels at a time, which lie in 32 banks: rows and slices of the region are as far apart
//   as that takes.
// Sums are of 32 bits: shared memory adds no others by itself. Two of them are a voxel's weighted estimates, one is its
// weights: those of a block are fewer than 2^12, each up to 2^20.
#include "ops/denoise/denoise_columns.cuh"

#define TESSERA_DENOISE_COLUMNS(Voxel, type, step, is_wiener, Transform, places)               \
  extern "C" __global__ void __launch_bounds__(32 * tessera::cuda::column_warps(is_wiener), 1) \
      tessera_denoise_columns_##type##_##step##_##places(                                      \
          const __grid_constant__ tessera::cuda::DenoiseColumnArguments columns) {             \
    tessera::cuda::filter_column<Voxel, is_wiener, tessera::cuda::Transform, places>(columns); \
  }
#define TESSERA_DENOISE_COLUMNS_TYPE(Voxel, type)                   \
  TESSERA_DENOISE_COLUMNS(Voxel, type, hard, false, HaarOfFour, 16) \
  TESSERA_DENOISE_COLUMNS(Voxel, type, hard, false, HaarOfFour, 32) \
  TESSERA_DENOISE_COLUMNS(Voxel, type, wiener, true, DctOfFour, 16) \
  TESSERA_DENOISE_COLUMNS(Voxel, type, wiener, true, DctOfFour, 32)
TESSERA_DENOISE_TYPES(TESSERA_DENOISE_COLUMNS_TYPE)
