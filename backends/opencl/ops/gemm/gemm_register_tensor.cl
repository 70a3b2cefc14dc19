// A tile in registers, multiplied by NVIDIA's tensor cores in float64: 32 work-items together, who round no otherwise
// than a fused multiply-add does. In place of gemm_register_fma.cl. TENSOR_CORES is the architecture whose instruction is
// taken, 80 or 90.
//
//           n = g           An instruction multiplies 16 rows of 4 p with 8 columns. Work-item 4 g + t of 32 gives it rows
//          +-----+          g and g + 8 of step t of A and column g of step t of B, and holds columns 2 t and 2 t + 1 of
//        t |  b  |          rows g and g + 8 of the sums.
//    t     +-----+
//   +----+ +-----+          Which of the tile's rows and columns these are is ours to say. So that a work-item reads two
//   | a0 | |s0 s1|  g       numbers as one vector, its rows are 2 g and 2 g + 1 of 16, and its columns 2 g for one
//   |    | |     |          instruction and 2 g + 1 for the next: the sums of both are four neighbours, from 4 t on. No
//   | a1 | |s2 s3|  g + 8   two reads meet in a bank if a row of the tiles is 4 numbers longer than the tile.
//   +----+ +-----+
//
// The cores multiply a step of a 128 x 64 tile with DEPTH 8 in 512 clocks, half of the time that device memory takes to
// answer. So STAGES pairs of tiles take turns, and all but one of them are on their way, by copies that pass no
// register. Each copy moves one number to wherever it is to lie, or a zero. On an H200 (driver 580) 2048^3 reaches 46.9
// TFLOP/s so, and 20.7 with one step fetched ahead into registers, as gemm_register_fma.cl does it.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=1 -DTILE_M=64 -DTILE_N=64 -DWORK_M=4 -DWORK_N=8 -DDEPTH=8 -DSLICES=1 -DSTAGES=5 -DTENSOR_CORES=90 -DA_TURNED=1 -DB_TURNED=0 -DRUN=V
#include "ops/gemm/gemm_register_tile.cl"
#include "ops/nvidia_float64.cl"

#define LANES_M 8
#define LANES_N 4
#define ROW_OF(i) ((i) / 2 * 16 + (i) % 2)
#define COLUMN_OF(j) ((j) / 4 * 16 + (j) % 4)
#define P_AT_ONCE 4
#define B_NUMBERS (WORK_N / 2)
#define STEPS (DEPTH / SLICES / P_AT_ONCE)
#if STEPS * SLICES * P_AT_ONCE != DEPTH || STAGES < 2 || !FLOAT64
#error "no such depth, number of stages or type"
#endif

static inline Spot spot_of_item(const uint item_of_slice) {
  const uint lane = item_of_slice % 32;
  const uint warp = item_of_slice / 32;
  const uint warp_row = warp / (ITEMS_N / LANES_N);
  const uint warp_column = warp - warp_row * (ITEMS_N / LANES_N);
  Spot spot;
  spot.row = (int)(warp_row * (LANES_M * WORK_M) + lane / 4 * 2);
  spot.column = (int)(warp_column * (LANES_N * WORK_N) + lane % 4 * 4);
  return spot;
}

static inline void multiply(real sums[WORK_M][WORK_N], const real *a_numbers, const real *b_numbers) {
#pragma unroll
  for (int i = 0; i < WORK_M; i += 2) {
#pragma unroll
    for (int j = 0; j < B_NUMBERS; ++j) {
      const int column = j / 2 * 4 + j % 2;
      multiply_16x8(&sums[i][column], &sums[i + 1][column], a_numbers[i], a_numbers[i + 1], b_numbers[j]);
    }
  }
}

// Sends a number on its way to local memory, or a zero.
static inline void start_copy(__local real *to, __global const real *from, const int is_inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"((uint)(size_t)to), "l"(from), "r"(is_inside ? 8 : 0)
               : "memory");
}
// What was started since the last call belongs together, and is waited for together.
static inline void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until all but the newest STAGES - 2 are there.
static inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
}

// Sets `sums` to those of the products of all p from `begin` to `end`.
ALWAYS_INLINE void multiply_tiles(real sums[WORK_M][WORK_N], const Tiles tiles, const Share share, SHARE_POINTERS, const long a_step,
                                  const long b_step, const Source *source,
                                  const long begin, const long end) {
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; ++j) sums[i][j] = 0;
  }
  const uint lane = share.item % 32;
  const int read_p = (int)(share.slice * (STEPS * P_AT_ONCE) + lane % 4);
  const int read_column = share.spot.column + (int)(lane / 4) * 2 - (int)(lane % 4) * 4;
  long started = begin;
  int write = 0;
#pragma unroll
  for (; write < STAGES - 1; ++write) {
    if (started < end) start_tiles(a, b, places, source, tiles.a[write], tiles.b[write], started);
    a += a_step;
    b += b_step;
    close_copies();
    started += DEPTH;
  }
  int read = 0;
  for (long first_p = begin; first_p < end; first_p += DEPTH) {
    wait_for_copies();
    barrier(CLK_LOCAL_MEM_FENCE);  // all have waited, and nobody reads the pair that is written next
    if (started < end) start_tiles(a, b, places, source, tiles.a[write], tiles.b[write], started);
    a += a_step;
    b += b_step;
    close_copies();
    started += DEPTH;
#pragma unroll
    for (int p = 0; p < STEPS; ++p) {
      const int step = read_p + p * P_AT_ONCE;
      real a_numbers[WORK_M];
      real b_numbers[B_NUMBERS];
      read_numbers(a_numbers, WORK_M, &tiles.a[read][step * A_WIDTH + share.spot.row], 16);
      read_numbers(b_numbers, B_NUMBERS, &tiles.b[read][step * B_WIDTH + read_column], 16);
      multiply(sums, a_numbers, b_numbers);
    }
    write = read;
    read = read + 1 == STAGES ? 0 : read + 1;
  }
}
