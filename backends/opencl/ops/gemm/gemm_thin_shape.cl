// gemm, thin: what a group, and each of its work-items, has of the product, and which elements of the operands that are.
// Options: as gemm_thin.cl has them, which draws the picture.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=1 -DFEW_ROWS=1 -DALONG=1 -DFEW=4 -DLANES=32 -DROWS=4 -DLOADS=2 -DNVIDIA=0
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=0 -DFEW_ROWS=0 -DALONG=0 -DFEW=16 -DLANES=8 -DROWS=1 -DLOADS=4 -DNVIDIA=0
#include "ops/gemm/gemm_operands.cl"

#if FLOAT64
#define CHUNK 2
typedef double2 chunk;
#else
#define CHUNK 4
typedef float4 chunk;
#endif

#define ITEMS 256  // of a group
#define SLOTS (ITEMS / LANES)
#if ALONG
#define EACH ROWS  // sums of a work-item, of one of the few
#define TILE (SLOTS * ROWS)
#define DEPTH (LANES * CHUNK * LOADS)  // steps of k at once
#else
#define EACH CHUNK
#define TILE (LANES * CHUNK)
#define DEPTH (SLOTS * LOADS)
#endif
#define SUMS (FEW * EACH)

// How the work-items that have parts of the same sums, LANES or SLOTS of them, bring these together: SHARES of each are
// left in local memory, for ROUND of the few at once, and are added in order. With shuffles, those of 32 work-items
// have been added before: the bits of their number from FIRST_BIT down to LAST_BIT are the lanes, or slots, that do.
#if NVIDIA
#define WARP 32
#if ALONG
#define FIRST_BIT (LANES < WARP ? LANES / 2 : WARP / 2)
#define LAST_BIT 1
#define SHARES (LANES > WARP ? LANES / WARP : 1)
#define SHARE (item / WARP % SHARES)
#define ROUND FEW
#else
#define FIRST_BIT (WARP / 2)
#define LAST_BIT LANES
#define SHARES (ITEMS / WARP)
#define SHARE (item / WARP)
#define ROUND (FEW < 4 ? FEW : 4)
#endif
// Work-items that add, the sums that each ends with, and how many end with the same.
#define ADDING (FIRST_BIT < LAST_BIT ? 1 : 2 * FIRST_BIT / LAST_BIT)
#define LEFT (SUMS > ADDING ? SUMS / ADDING : 1)
#define ALIKE (ADDING > SUMS ? ADDING / SUMS : 1)
#else
#define SHARES (ALONG ? LANES : SLOTS)
#define SHARE (ALONG ? lane : slot)
#define ROUND (FEW < 2 ? FEW : 2)
#endif
// Processors may index private memory, and their compilers take long over unrolled barriers.
#define ROUNDS_AT_ONCE (ROWS == 1 && LOADS == 1 ? 1 : FEW / ROUND)
#define SHARE_INDEX(one, i) ((SHARE * ROUND + (one)) * TILE + (ALONG ? slot : lane) * EACH + (i))

// The problem as the picture shows it.
#if FEW_ROWS
#define MANY_OF(gemm) ((gemm).n)
#define FEW_OF(gemm) ((gemm).m)
#define LARGE_STEP(gemm) ((gemm).ldb)
#define SMALL_INDEX(one, p) A_INDEX(one, p)
#define SMALL_IS_ALONG_K (!TRANSPOSE_A)
#else
#define MANY_OF(gemm) ((gemm).m)
#define FEW_OF(gemm) ((gemm).n)
#define LARGE_STEP(gemm) ((gemm).lda)
#define SMALL_INDEX(one, p) B_INDEX(p, one)
#define SMALL_IS_ALONG_K TRANSPOSE_B
#endif

// What each work-item brings of the small operand, and which of the few and which step the i-th of all of it is:
// neighbours in memory.
#define SMALL_PASSES ((FEW * DEPTH + ITEMS - 1) / ITEMS)
#define SMALL_ONE(i) (SMALL_IS_ALONG_K ? (i) / DEPTH : (i) % FEW)
#define SMALL_STEP(i) (SMALL_IS_ALONG_K ? (i) % DEPTH : (i) / FEW)
