// Multiplies tiles in registers (gemm_register_fma.cl) of which STAGES pairs take turns, by copies of NVIDIA's that pass no
// register: while one pair is multiplied, those behind it are on their way. A copy moves one number to wherever it is to
// lie, or a zero. Where a group has few steps, and a multiprocessor few groups, waiting for memory is most of the time.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=3 -DTENSOR_CORES=0 -DASYNC=1 -DA_TURNED=1 -DB_TURNED=0 -DRUN=V
#include "ops/gemm/gemm_register_fma.cl"

#if ASYNC
#define STAGES_AHEAD (STAGES - 1)

// Sends a number on its way to local memory, or a zero.
static inline void start_copy(__local real *to, __global const real *from, const int is_inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((uint)(size_t)to), "l"(from), "r"(is_inside ? 4 : 0)
               : "memory");
}
// Sends a vector.
static inline void start_vector_copy(__local real *to, __global const real *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint)(size_t)to), "l"(from) : "memory");
}
// What was started since the last call belongs together, and is waited for together.
static inline void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until all but the newest STAGES - 2 are there.
static inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
}

// Sets `sums` to those of the products of all p from `begin` to `end`. Behind the last step numbers are read once more,
// for nothing.
ALWAYS_INLINE void multiply_tiles(real sums[WORK_M][WORK_N], const Tiles tiles, const Share share, SHARE_POINTERS, const long a_step,
                                  const long b_step, const Source *source, const long begin, const long end) {
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; ++j) sums[i][j] = 0;
  }
  long started = begin;
  int write = 0;
#pragma unroll
  for (; write < STAGES_AHEAD; ++write) {
    if (started < end) start_tiles(a, b, places, source, tiles.a[write], tiles.b[write], started);
    close_copies();
    a += a_step;
    b += b_step;
    places += DEPTH;
    started += DEPTH;
  }
  real a_numbers[2][WORK_M];
  real b_numbers[2][WORK_N];
  int read = 0;
  wait_for_copies();
  barrier(CLK_LOCAL_MEM_FENCE);
  read_step(a_numbers[0], b_numbers[0], tiles, 0, 0, share);
#pragma unroll 1
  for (long first_p = begin; first_p < end; first_p += DEPTH) {
    // Nobody reads the pair any more that is written now: all have passed a barrier since.
    if (started < end) start_tiles(a, b, places, source, tiles.a[write], tiles.b[write], started);
    close_copies();
    a += a_step;
    b += b_step;
    places += DEPTH;
    started += DEPTH;
#pragma unroll
    for (int p = 0; p < STEPS - 1; ++p) {
      read_step(a_numbers[(p + 1) & 1], b_numbers[(p + 1) & 1], tiles, read, p + 1, share);
      multiply(sums, a_numbers[p & 1], b_numbers[p & 1]);
    }
    write = read;
    read = read + 1 == STAGES ? 0 : read + 1;
    wait_for_copies();
    barrier(CLK_LOCAL_MEM_FENCE);
    read_step(a_numbers[0], b_numbers[0], tiles, read, 0, share);
    multiply(sums, a_numbers[1], b_numbers[1]);
  }
}
#endif
