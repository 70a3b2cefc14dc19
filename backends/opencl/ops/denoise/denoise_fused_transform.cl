// denoise, fused: the patches of a stack in local memory times the matrices of their axes, and back. See denoise_fused.cl,
// which says what the options are.
//
//   PLACES 0     a work-item takes a line of a patch at a time: neighbours the same line of neighbouring patches
//   else         a work-item takes a whole patch into registers, through all axes, and puts it back
//
// Compiles alone with: -DTYPE=0 -DLANES=16 -DSTACKS=1 -DPLACES=0 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=1 -DLANES=32 -DSTACKS=2 -DPLACES=32 -DSIDE_X=8 -DSIDE_Y=8 -DSIDE_Z=1 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=2 -DLANES=16 -DSTACKS=4 -DPLACES=16 -DSIDE_X=4 -DSIDE_Y=4 -DSIDE_Z=4 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
#include "ops/denoise/denoise_volume.cl"

#define GROUP (LANES * STACKS)
// PITCH: from a voxel's members to the next one's.
#if PLACES > 0
#define MOST_PLACES PLACES
#define PITCH (PLACES + 1)
#define VOXELS ((SIDE_X) * (SIDE_Y) * (SIDE_Z))
#define MEMBERS(stack) PLACES
#define UNROLLED _Pragma("unroll")
#else
#define MOST_PLACES LARGEST_STACK
#define PITCH ((1 << step->place_bits) + 1)
#define VOXELS ((int)patch_voxels(step))
#define MEMBERS(stack) ((stack)->members)
#define UNROLLED _Pragma("unroll 1")
#endif

// Of the axes that are longer than a voxel, of the unrolled program.
typedef struct {
  float rows[64];
} Matrix;
SIZE_ON_THE_HOST(Matrix, 256);

// The work-item's stack.
typedef struct {
  int lane;
  int members;  // 0: there is none
} Stack;

#if PLACES > 0

#define FACTOR(SIDE, i, j) matrix->rows[is_inverse ? (j) * (SIDE) + (i) : (i) * (SIDE) + (j)]
#define TRANSFORM_AXIS(SIDE, APART)                                                              \
  if ((SIDE) > 1) {                                                                              \
    UNROLLED for (int line = 0; line < VOXELS / (SIDE); ++line) {                                \
      const int begin = line / (APART) * (APART) * (SIDE) + line % (APART);                      \
      float results[SIDE];                                                                       \
      UNROLLED for (int i = 0; i < (SIDE); ++i) {                                                \
        results[i] = FACTOR(SIDE, i, 0) * patch[begin];                                          \
        UNROLLED for (int j = 1; j < (SIDE); ++j) {                                              \
          const float product = FACTOR(SIDE, i, j) * patch[begin + j * (APART)];                 \
          results[i] = results[i] + product;                                                     \
        }                                                                                        \
      }                                                                                          \
      UNROLLED for (int i = 0; i < (SIDE); ++i) patch[begin + i * (APART)] = results[i];         \
    }                                                                                            \
  }

static inline void transform_patches(const Step* step, const Stack* stack, __global const float* table,
                                     const Matrix* matrix, const int is_inverse, __local float* numbers) {
  for (int m = stack->lane; m < stack->members; m += LANES) {
    float patch[VOXELS];
    UNROLLED for (int v = 0; v < VOXELS; ++v) patch[v] = numbers[v * PITCH + m];
    TRANSFORM_AXIS(SIDE_X, 1)
    TRANSFORM_AXIS(SIDE_Y, SIDE_X)
    TRANSFORM_AXIS(SIDE_Z, SIDE_X * SIDE_Y)
    UNROLLED for (int v = 0; v < VOXELS; ++v) numbers[v * PITCH + m] = patch[v];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

#else

static inline void transform_lines(const Step* step, const Stack* stack, const int side, const int apart,
                                   __global const float* matrix, const int is_inverse, __local float* numbers) {
  if (side == 1) return;
  const int lines = small_quotient(VOXELS, side);
  const int between = apart * PITCH;
  for (int i = stack->lane; i < lines << step->place_bits; i += LANES) {
    const int member = i & ((1 << step->place_bits) - 1);
    if (member >= stack->members) continue;
    const int line = i >> step->place_bits;
    const int block = small_quotient(line, apart);
    __local float* const first = numbers + (block * side * apart + line - block * apart) * PITCH + member;
    float old[LARGEST_SIDE];
    for (int j = 0; j < side; ++j) old[j] = first[j * between];
    for (int k = 0; k < side; ++k) {
      float sum = matrix[is_inverse ? k : k * side] * old[0];
      for (int j = 1; j < side; ++j) sum += matrix[is_inverse ? j * side + k : k * side + j] * old[j];
      first[k * between] = sum;
    }
  }
}

static inline void transform_patches(const Step* step, const Stack* stack, __global const float* table,
                                     const Matrix* matrix, const int is_inverse, __local float* numbers) {
  const int x = (int)step->patch[0];
  const int y = (int)step->patch[1];
  transform_lines(step, stack, x, 1, table, is_inverse, numbers);
  barrier(CLK_LOCAL_MEM_FENCE);
  transform_lines(step, stack, y, x, table + matrix_at(step, 1), is_inverse, numbers);
  barrier(CLK_LOCAL_MEM_FENCE);
  transform_lines(step, stack, (int)step->patch[2], x * y, table + matrix_at(step, 2), is_inverse, numbers);
  barrier(CLK_LOCAL_MEM_FENCE);
}

#endif
