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

ALWAYS_INLINE void store_tiles(real sums[WORK_M][WORK_N], const Tiles tiles, const Share share,
                               const Results *results) {
  const Spot spot = share.spot;
#if SLICES == 1
#pragma unroll
  for (int i = 0; i < WORK_M; ++i) {
#pragma unroll
    for (int j = 0; j < WORK_N; j += RUN) {
      store_run(results, spot.row + ROW_OF(i), spot.column + COLUMN_OF(j), &sums[i][j]);
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
      store_run(results, spot.row + ROW_OF(i + first_e / (WORK_N / V)),
                spot.column + COLUMN_OF(first_e % (WORK_N / V) * V), run);
    }
  }
#endif
}
