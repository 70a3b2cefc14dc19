// A tile in registers, stored. Behind gemm_register_fma.cl or gemm_register_tensor.cl, which say where a work-item's
// elements lie in the tile (ROW_OF, COLUMN_OF).
//
//   slice 0   slice 1           With slices, each leaves its sums in local memory, V rows of every work-item at a time,
//   | sums |  | sums |  ...     and adds up its share of all slices' sums, in the slices' order, so that every run gives
//       |        |              the same bits.
//       +-> memory -> store
//
// Compiles alone with: -DFLOAT64=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=2 -DTENSOR_CORES=0 -DA_TURNED=1 -DB_TURNED=0 -DRUN=V "-DROW_OF(i)=(i)" "-DCOLUMN_OF(j)=(j)"
// Compiles alone with: -DFLOAT64=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=1 -DSTAGES=2 -DTENSOR_CORES=0 -DA_TURNED=1 -DB_TURNED=0 -DRUN=V "-DROW_OF(i)=(i)" "-DCOLUMN_OF(j)=(j)"
#include "ops/gemm/gemm_register_tile.cl"
#include "ops/joined_parts.cl"

// Where a run goes whose first sum is of that column of the tile. A kernel whose runs are not columns side by side says
// it in front of this.
#ifndef PLACE_OF_COLUMN
#define PLACE_OF_COLUMN(column) (column)
#endif

#if JOINED
#include "ops/sum_of_parts.cl"
// With more on their way a large group's registers do not suffice for as many groups of a compute unit.
#define VECTORS_AT_ONCE (ITEMS > 128 ? 8 : 16)
DEFINE_SUM_OF_PARTS(sum_of_vectors, vector, VECTORS_AT_ONCE)

// The parts of a group's block: TILE_M x TILE_N sums of each, one behind the other.
typedef struct {
  __global real *sums;
  long part;
  long count;
} Joint;

static inline Joint joint_of(__global real *sums, const long block, const long part, const long count) {
  const Joint joint = {sums + block * count * (TILE_M * TILE_N), part, count};
  return joint;
}

// Puts a run of this part's sums to where the group that comes last looks for them.
ALWAYS_INLINE void put_run(const Results *results, const Joint joint, const int row, const int column,
                           const real *run) {
  if (!is_inside(results, row, column)) return;
  __global real *const place = joint.sums + joint.part * (TILE_M * TILE_N) + row * TILE_N + column;
#pragma unroll
  for (int i = 0; i < RUN; i += V) *(__global vector *)(place + i) = LOAD_VECTOR(0, run + i);
}

// Adds up all parts and stores what they give.
ALWAYS_INLINE void store_joined(const Joint joint, const Share share, const Results *results) {
  for (int first = (int)share.item * RUN; first < TILE_M * TILE_N; first += ITEMS * RUN) {
    const int row = first / TILE_N, column = first - row * TILE_N;
    if (!is_inside(results, row, column)) continue;
    real run[RUN];
#pragma unroll
    for (int i = 0; i < RUN; i += V) {
      STORE_VECTOR(sum_of_vectors((__global const vector *)(joint.sums + first + i), joint.count,
                                  TILE_M * TILE_N / V),
                   0, run + i);
    }
    store_run(results, row, column, run);
  }
}
#define JOINT , const Joint joint
#define PUT_RUN(row, column, run) put_run(results, joint, row, column, run)
#else
#define JOINT
#define PUT_RUN(row, column, run) store_run(results, row, column, run)
#endif

// With JOINED, to the workspace.
ALWAYS_INLINE void store_tiles(real sums[WORK_M][WORK_N], const Tiles tiles, const Share share,
                               const Results *results JOINT) {
  const Spot spot = share.spot;
#if SLICES == 1
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; j += RUN) {
      PUT_RUN(spot.row + ROW_OF(i), PLACE_OF_COLUMN(spot.column + COLUMN_OF(j)), &sums[i][j]);
    }
  }
#else
  __local vector *const left = (__local vector *)tiles.memory + share.item_of_slice;
#pragma unroll
  for (int i = 0; i < WORK_M; i += V) {
    barrier(CLK_LOCAL_MEM_FENCE);  // nobody reads tiles, or the sums before, any more
#pragma unroll
    for (int e = 0; e < WORK_N; ++e) {
      left[(share.slice * WORK_N + e) * SLICE_ITEMS] =
          LOAD_VECTOR(0, &sums[i + e / (WORK_N / V)][e % (WORK_N / V) * V]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int mine = 0; mine < WORK_N / SLICES; mine += RUN / V) {
      const int first_e = (int)share.slice * (WORK_N / SLICES) + mine;
      real run[RUN];
#pragma unroll
      for (int e = first_e; e < first_e + RUN / V; ++e) {
        vector sum = left[e * SLICE_ITEMS];
#pragma unroll
        for (int other = 1; other < SLICES; ++other) sum += left[(other * WORK_N + e) * SLICE_ITEMS];
        STORE_VECTOR(sum, e - first_e, run);
      }
      PUT_RUN(spot.row + ROW_OF(i + first_e / (WORK_N / V)),
              PLACE_OF_COLUMN(spot.column + COLUMN_OF(first_e % (WORK_N / V) * V)), run);
    }
  }
#endif
}
