// gemm, split: prepares A and B, scaled by powers of two and rounded to fp16. Options: those of gemm_operands.cl; TILE_M,
// TILE_N; WARP_GROUPS, 0 or how many of them will multiply; NVIDIA, 1 where its instructions are to be had.
//
//   a group: 16 rows              A row needs its largest element before its first one can be rounded. So 1024 work-items
//   |------- k -------|           hold the first 1024 steps of k in registers, look at the others, and then round and
//   | held  | again   |           write; the others are read again, from the cache that they went through. A warp's 32
//                                 work-items take a step of 16: 64 bytes of each row, whichever way the operand lies.
//
// Of A and B together, in one launch, which leaves fewer compute units idle.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DTILE_M=128 -DTILE_N=64 -DWARP_GROUPS=0 -DNVIDIA=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DTILE_M=128 -DTILE_N=64 -DWARP_GROUPS=2 -DNVIDIA=1
#include "ops/gemm/gemm_split_halves.cl"
#include "ops/gemm/gemm_split_panels.cl"
#include "ops/gemm/gemm_split_scale.cl"

// From one row of a step of B to the next, and from what was rounded to what that left.
#if WARP_GROUPS
#define CHUNK_BYTES 16
#define CHUNK_WORDS (CHUNK_BYTES / 4)
#define ROW_BYTES_OF_B CHUNK_BYTES
#define HALF_BYTES_OF_B (TILE_N * 2 * CHUNK_BYTES)
#else
#define ROW_BYTES_OF_B (STEP_BYTES / BLOCK_ROWS)
#define HALF_BYTES_OF_B HALF_BLOCK_BYTES
#endif

#define PREPARE_ITEMS 1024
#define STEPS_AT_ONCE (PREPARE_ITEMS / 32)
// Steps that a work-item holds: what 64 registers, all that it may have, leave room for.
#define HELD 2
#define INFINITY_BITS 0x7f800000u
// From here on fp16 keeps all 11 bits of what rounding leaves: its smallest step is 2^-24.
#define LEAST_EXACT 0x1p-3f

// The power that brings a row with this largest element to [2^14, 2^15): fp16 goes up to 65504.
static inline int shift_of_largest(const uint bits) {
  if (bits == 0 || bits >= INFINITY_BITS) return 0;
  return 14 - (bits >= 0x00800000u ? (int)(bits >> 23) - 127 : -118 - (int)clz(bits));
}

// An operand: where a matrix begins, its rows and k; elements from one row to the next, and from one step to the next.
typedef struct {
  __global const float *values;
  long rows, k, row_stride, k_stride;
} Operand;

// A lane's elements of a step: four steps of k of two rows, 0 beyond the matrix.
typedef struct {
  float4 upper, lower;
} Elements;

static inline float4 load_four(const Operand *operand, const long row, const long first, const int is_along_k) {
  if (row >= operand->rows) return 0;
  __global const float *const from = operand->values + row * operand->row_stride + first * operand->k_stride;
  const long left = operand->k - first;
  if (left >= 4) {
    if (is_along_k && ((ulong)from & 15) == 0) return *(__global const float4 *)from;
    return (float4)(from[0], from[operand->k_stride], from[2 * operand->k_stride], from[3 * operand->k_stride]);
  }
  float4 some = 0;
  if (left > 0) some.x = from[0];
  if (left > 1) some.y = from[operand->k_stride];
  if (left > 2) some.z = from[2 * operand->k_stride];
  return some;
}
static inline Elements load_elements(const Operand *operand, const long row, const long first, const int is_along_k) {
  Elements elements;
  elements.upper = load_four(operand, row, first, is_along_k);
  elements.lower = load_four(operand, row + BLOCK_ROWS / 2, first, is_along_k);
  return elements;
}
// The bits of a number's size are in the order of these sizes, infinity and NaN last.
static inline uint largest_of(const float4 elements) {
  const uint4 bits = as_uint4(elements) & 0x7fffffffu;
  return max(max(bits.x, bits.y), max(bits.z, bits.w));
}

// Twice, because the power goes up to 2^163. Both products are exact, but where a number becomes smaller than any.
typedef struct {
  float first, second;
} Scale;
static inline Scale scale_of(const int shift) {
  const int first = min(shift, 127);
  const Scale scale = {power_of_two(first), power_of_two(shift - first)};
  return scale;
}

// Rounds a row's four elements into `rounded` and `rest`; how many of them fp16 holds with fewer bits than others.
static inline int round_four(const float4 elements, const Scale scale, uint2 *rounded, uint2 *rest) {
  const float4 scaled = elements * scale.first * scale.second;
  *rounded = (uint2)(to_halves(scaled.lo), to_halves(scaled.hi));
  *rest = (uint2)(to_halves(scaled.lo - of_halves(rounded->x)), to_halves(scaled.hi - of_halves(rounded->y)));
  const int4 is_tiny = (elements != 0.0f) & (fabs(scaled) < LEAST_EXACT);
  return -(is_tiny.x + is_tiny.y + is_tiny.z + is_tiny.w);
}

// Stores a lane's words of half a block, the first of which lies at `panels`.
static inline void store_half(__global uchar *panels, const int lane, const uint2 upper, const uint2 lower,
                              const int is_a) {
#if WARP_GROUPS
  if (!is_a) {
    __global uint *const chunk = (__global uint *)(panels + lane / 4 * CHUNK_BYTES) + lane % 4;
    chunk[0] = upper.x;
    chunk[BLOCK_ROWS / 2 * CHUNK_WORDS] = lower.x;
    chunk[TILE_N * CHUNK_WORDS] = upper.y;
    chunk[(TILE_N + BLOCK_ROWS / 2) * CHUNK_WORDS] = lower.y;
    return;
  }
#endif
  *(__global uint4 *)(panels + lane * 16) =
      is_a ? (uint4)(upper.x, lower.x, upper.y, lower.y) : (uint4)(upper, lower);
}

// What a group has in local memory, of its 16 rows.
typedef struct {
  uint largest[BLOCK_ROWS];
  uint tiny[BLOCK_ROWS];
} PrepareShared;

// Prepares 16 rows from `first_row` on. `panels`: where the block's first step lies; `step_bytes`: to its next one.
static inline __attribute__((always_inline)) void prepare_rows(__local PrepareShared *shared, const Operand operand,
                                                               const long first_row, const int is_a, const int is_along_k,
                                                               const long steps, __global uchar *panels,
                                                               const long step_bytes, __global Note *notes,
                                                               const float doubt_of_one) {
  const int item = (int)get_local_id(0);
  const int lane = item % 32;
  const int in_block = lane / 4;
  const long row = first_row + in_block;
  const long first_step = item / 32;
  if (item < BLOCK_ROWS) shared->largest[item] = shared->tiny[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  Elements held[HELD];
#pragma unroll
  for (int i = 0; i < HELD; ++i) {
    held[i] =
        load_elements(&operand, row, (first_step + i * STEPS_AT_ONCE) * STEP_DEPTH + lane % 4 * 4, is_along_k);
  }
  uint upper = 0, lower = 0;
#pragma unroll
  for (int i = 0; i < HELD; ++i) {
    upper = max(upper, largest_of(held[i].upper));
    lower = max(lower, largest_of(held[i].lower));
  }
  const long behind_held = first_step + HELD * STEPS_AT_ONCE;
#pragma unroll 4
  for (long step = behind_held; step < steps; step += STEPS_AT_ONCE) {
    const Elements elements = load_elements(&operand, row, step * STEP_DEPTH + lane % 4 * 4, is_along_k);
    upper = max(upper, largest_of(elements.upper));
    lower = max(lower, largest_of(elements.lower));
  }
  atomic_max(&shared->largest[in_block], upper);
  atomic_max(&shared->largest[in_block + BLOCK_ROWS / 2], lower);
  barrier(CLK_LOCAL_MEM_FENCE);

  const Scale upper_scale = scale_of(shift_of_largest(shared->largest[in_block]));
  const Scale lower_scale = scale_of(shift_of_largest(shared->largest[in_block + BLOCK_ROWS / 2]));
  const long half_bytes = is_a ? HALF_BLOCK_BYTES : HALF_BYTES_OF_B;
  int upper_tiny = 0, lower_tiny = 0;
#define WRITE_STEP(elements, step)                                                            \
  do {                                                                                        \
    uint2 rounded_upper, rounded_lower, rest_upper, rest_lower;                               \
    upper_tiny += round_four((elements).upper, upper_scale, &rounded_upper, &rest_upper);     \
    lower_tiny += round_four((elements).lower, lower_scale, &rounded_lower, &rest_lower);     \
    __global uchar *const to = panels + (step)*step_bytes;                                    \
    store_half(to, lane, rounded_upper, rounded_lower, is_a);                                 \
    store_half(to + half_bytes, lane, rest_upper, rest_lower, is_a);                          \
  } while (0)
#pragma unroll
  for (int i = 0; i < HELD; ++i) {
    const long step = first_step + i * STEPS_AT_ONCE;
    if (step < steps) WRITE_STEP(held[i], step);
  }
#pragma unroll 2
  for (long step = behind_held; step < steps; step += STEPS_AT_ONCE) {
    const Elements elements = load_elements(&operand, row, step * STEP_DEPTH + lane % 4 * 4, is_along_k);
    WRITE_STEP(elements, step);
  }
  if (upper_tiny != 0) atomic_add(&shared->tiny[in_block], (uint)upper_tiny);
  if (lower_tiny != 0) atomic_add(&shared->tiny[in_block + BLOCK_ROWS / 2], (uint)lower_tiny);
  barrier(CLK_LOCAL_MEM_FENCE);

  if (item >= BLOCK_ROWS) return;
  const uint bits = shared->largest[item];
  Note note;
  note.shift = shift_of_largest(bits);
  note.doubt = (float)shared->tiny[item] * doubt_of_one;
  if (bits == 0) note.doubt = -as_float(INFINITY_BITS);
  if (bits >= INFINITY_BITS) note.doubt = as_float(INFINITY_BITS);
  notes[item] = note;
}

// Groups: blocks of A's matrices of the round, then of B's.
__attribute__((reqd_work_group_size(PREPARE_ITEMS, 1, 1))) __kernel void gemm_split_prepare(
    __global const float *restrict a, const ulong a_first, __global const float *restrict b, const ulong b_first,
    __global uchar *restrict workspace, const ulong workspace_first, const Gemm gemm, const Split split,
    const long round_number) {
  __local PrepareShared shared;
  workspace += workspace_first;
  const long a_blocks = quotient(split.a_rows, BLOCK_ROWS) * split.a_matrices;
  const long group = (long)get_group_id(0);
  const int is_a = group < a_blocks;
  const long block = is_a ? group : group - a_blocks;
  const long rows = is_a ? split.a_rows : split.b_rows;
  const long blocks = rows / BLOCK_ROWS;
  const long of_round = quotient(block, blocks);
  const long matrix = round_number * (is_a ? split.a_matrices : split.b_matrices) + of_round;
  // Behind the batch's end, or prepared in the first round.
  const int is_shared = (is_a ? gemm.stride_a : gemm.stride_b) == 0;
  if (is_shared ? round_number > 0 : matrix >= gemm.batch) return;
  const long in_matrix = block - of_round * blocks;
  const long first_row = in_matrix * BLOCK_ROWS;
  const long row_of_all = of_round * rows + first_row;
  if (is_a) {
    const Operand operand = {a + a_first + (is_shared ? 0 : matrix * gemm.stride_a), gemm.m, gemm.k,
                             TRANSPOSE_A ? 1 : gemm.lda, TRANSPOSE_A ? gemm.lda : 1};
    const long tile = row_of_all / TILE_M;
    prepare_rows(&shared, operand, first_row, 1, !TRANSPOSE_A, split.steps,
                 workspace + (tile * split.steps * TILE_M + row_of_all % TILE_M) * (STEP_BYTES / BLOCK_ROWS),
                 TILE_M * (STEP_BYTES / BLOCK_ROWS), (__global Note *)(workspace + split.a_notes) + row_of_all,
                 split.doubt_of_one);
  } else {
    const Operand operand = {b + b_first + (is_shared ? 0 : matrix * gemm.stride_b), gemm.n, gemm.k,
                             TRANSPOSE_B ? gemm.ldb : 1, TRANSPOSE_B ? 1 : gemm.ldb};
    const long tile = row_of_all / TILE_N;
    prepare_rows(&shared, operand, first_row, 0, TRANSPOSE_B, split.steps,
                 workspace + split.b_panels + tile * split.steps * TILE_N * (STEP_BYTES / BLOCK_ROWS) +
                     row_of_all % TILE_N * ROW_BYTES_OF_B,
                 TILE_N * (STEP_BYTES / BLOCK_ROWS), (__global Note *)(workspace + split.b_notes) + row_of_all,
                 split.doubt_of_one);
  }
}
