// gemm, split: how prepared operands lie in the workspace. Options: those of gemm_operands.cl.
//
//   a tile of rows, TILE / 16 blocks            A row here is a row of op(A) or a column of op(B), scaled by a power of two
//             | block 0 | block 1 | ...         so that its largest element lies in [2^14, 2^15). A block is 16 rows, and
//   step 0    | 1 KiB   | 1 KiB   |             16 steps of k of it are 1 KiB: 512 bytes of elements rounded to fp16, and
//   step 1    | 1 KiB   | ...                   512 of what rounding left of each, again fp16.
//   ...                                         What a group multiplies next lies in one piece.
//
// Half a block, 32 lanes with 16 bytes each, lies as mma.sync wants A (16 x 16) and B (two times 8 columns): lane 4 g + t has
// rows g and g + 8 and the steps 4 t .. 4 t + 3. Which steps these are is of no account, as long as A and B agree. What an
// instruction takes as one lies in one run of words, or the compiler would move it into registers that follow each other.
//
//   words of a lane, A   | g: 4 t, 4 t + 1 | g + 8: the same      | g: 4 t + 2, 4 t + 3 | g + 8: the same |
//   words of a lane, B   | g: 4 t, 4 t + 1 | g: 4 t + 2, 4 t + 3  | g + 8: 4 t, 4 t + 1 | g + 8: .. + 3   |
//
// Warp groups want a step of B of all the tile's columns in chunks of 16 bytes (nvidia_warpgroup_halves.cl), what was
// rounded and then what that left: chunk 0 of every row, the steps 4 t and 4 t + 1; then chunk 1, 4 t + 2 and 4 t + 3.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=0
#include "ops/gemm/gemm_operands.cl"

#define BLOCK_ROWS 16
#define STEP_DEPTH 16
#define HALF_BLOCK_BYTES 512
#define STEP_BYTES (2 * HALF_BLOCK_BYTES)

// What is known of a row.
typedef struct {
  int shift;  // its elements were multiplied by 2^shift
  // A sum of products of scaled elements that is smaller than the doubts of its row and its column together may be off
  // by more than the bound allows. Infinity: the row holds an infinity or NaN. Minus infinity: nothing but zeros.
  float doubt;
} Note;

// The host's GemmSplitPlan. The workspace holds A's panels, B's panels, A's notes and B's notes, for the matrices of a
// round.
typedef struct {
  long steps;                 // of k, of a row
  long a_rows, b_rows;        // of a matrix, with those that fill up its last tile
  long a_matrices, b_matrices;  // of a round: 1 where all products read the same
  long b_panels;              // bytes of the workspace before them, and so on
  long a_notes, b_notes;
  long products;              // for who keeps them in the workspace too
  long batch;                 // products of a round
  int band;                   // tiles along m that are visited before the next along n
  float doubt_of_one;         // the doubt for each element that fp16 holds with fewer bits than others
} Split;
SIZE_ON_THE_HOST(Split, 88);
