// gemm, split: a tile of products of prepared operands (gemm_split_panels.cl) by NVIDIA's tensor cores, whatever becomes of
// its sums, and which tile a group computes. Options: those of gemm_operands.cl; WARP_GROUPS of Hopper that multiply, or 0
// for products by single warps; WARPS_M x WARPS_N warps of 32 work-items; ROW_BLOCKS and COLUMN_BLOCKS of 16 that a warp
// computes; STEPS of 16 in a stage; STAGES.
//
//   a group's tile of C                        A warp has its part of the tile in float32 registers, and walks along k in
//        COLUMN_BLOCKS * 16                    steps of 16. For each 16 rows of it, with x = x1 + x2 and x1 the rounded
//       +--------+--------+                    element, it multiplies x2 y1 + x1 y2 + x1 y1, the small ones first, and
//       | warp 0 | warp 1 |  ROW_BLOCKS * 16   adds what the tensor cores give to its registers at once. The cores cut
//       +--------+--------+                    sums off instead of rounding them, so theirs are three instructions long.
//       | warp 2 | warp 3 |
//       +--------+--------+
//
// Every byte of a panel is read m / TILE_M or n / TILE_N times from the L2 cache. Groups that run side by side lie in a band
// of C, and share what they read.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0 -DWARP_GROUPS=0 -DWARPS_M=2 -DWARPS_N=2 -DROW_BLOCKS=4 -DCOLUMN_BLOCKS=4 -DSTEPS=1 -DSTAGES=3
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTRANSPOSE_A=1 -DTRANSPOSE_B=1 -DWARP_GROUPS=2 -DWARPS_M=8 -DWARPS_N=1 -DROW_BLOCKS=1 -DCOLUMN_BLOCKS=8 -DSTEPS=1 -DSTAGES=5
#include "ops/gemm/gemm_split_tile_shape.cl"
#include "ops/nvidia_warp.cl"
#if WARP_GROUPS
#include "ops/gemm/gemm_split_warp_groups.cl"
#else
#include "ops/gemm/gemm_split_warps.cl"
#endif

// The first block of this work-item's warp in the tile.
static inline int warp_row() {
  return (int)get_local_id(0) / 32 / WARPS_N * ROW_BLOCKS;
}
static inline int warp_column() {
  return (int)get_local_id(0) / 32 % WARPS_N * COLUMN_BLOCKS;
}

// A group's tile of C, counted in tiles, and the product of the round. Groups that follow each other walk along m within a
// band before they step along n.
typedef struct {
  long product, row, column;
} Tile;
static inline Tile tile_of_group(const long group, const Split *split) {
  const long tiles_m = quotient(split->a_rows, TILE_M);
  const long tiles_n = quotient(split->b_rows, TILE_N);
  const long each = tiles_m * tiles_n;
  Tile tile;
  tile.product = quotient(group, each);
  const long in_product = group - tile.product * each;
  const long of_band = split->band * tiles_n;
  const long band = quotient(in_product, of_band);
  const long inside = in_product - band * of_band;
  const long height = min((long)split->band, tiles_m - band * split->band);
  tile.column = quotient(inside, height);
  tile.row = band * split->band + inside - tile.column * height;
  return tile;
}
