// A tile of a product in work-items' registers, fed through local memory: what gemm's register_local and cnn_layer's
// implicit_gemm_local share. Options: FLOAT64, 0 or 1, TILE_M, TILE_N, WORK_M, WORK_N, DEPTH, SLICES, STAGES, ASYNC. Behind it
// comes gemm_register_fma.cl, where a work-item multiplies by itself, or gemm_register_tensor.cl, where 32 do it
// together. gemm_register_local.cl draws the picture and says what each part of it is worth.
//
// A kernel says, in front of this,
//   A_TURNED, B_TURNED  1 where an operand is turned when it is written to local memory, into rows that are longer
//   RUN                 elements that are stored together: V times a divisor of WORK_N / SLICES
// and defines behind it the structs and the functions that are declared here. They are known when it is compiled, and
// inlined. Then it says DECLARE_TILES and calls multiply_tiles() and store_tiles().
//
// Compiles alone with: -DFLOAT64=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=2 -DTENSOR_CORES=0 -DA_TURNED=1 -DB_TURNED=0 -DRUN=V
#include "ops/real.cl"

#if FLOAT64
typedef double2 vector;
#define V 2
#define STORE_VECTOR vstore2
#define LOAD_VECTOR vload2
#else
typedef float4 vector;
#define V 4
#define STORE_VECTOR vstore4
#define LOAD_VECTOR vload4
#endif
// 32 work-items cover LANES_M x LANES_N places of V x V elements, and as many again further on: ROW_OF(i) and COLUMN_OF(j)
// say where, from a work-item's first.
#define ITEMS_N (TILE_N / WORK_N)
#define SLICE_ITEMS (TILE_M / WORK_M * ITEMS_N)
#define ITEMS (SLICE_ITEMS * SLICES)
// Elements from one p to the next in the tiles in local memory: longer than a tile where they are turned, or as tensor
// cores read them.
#if TENSOR_CORES
#define PADDING(turned) 4
#else
#define PADDING(turned) ((turned) ? V : 0)
#endif
#define A_WIDTH (TILE_M + PADDING(A_TURNED))
#define B_WIDTH (TILE_N + PADDING(B_TURNED))
#define A_TILE (DEPTH * A_WIDTH)
#define B_TILE (DEPTH * B_WIDTH)
// With slices the same memory holds their sums at the end: of V rows of every work-item at a time, WORK_N vectors.
#define TILES_SIZE (STAGES * (A_TILE + B_TILE))
#define SUMS_SIZE (WORK_N * V * ITEMS)
#if WORK_N % SLICES != 0
#error "no such number of slices"
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

// Do several pairs of tiles come ahead, by copies that pass no register?
#ifndef ASYNC
#define ASYNC 0
#endif
#define AHEAD (TENSOR_CORES || ASYNC)

// Where a work-item's elements begin in the tile.
typedef struct {
  int row;
  int column;
} Spot;

// Which of the group's work-items this is, and what of the tile it computes: a slice's share of every step's p.
typedef struct {
  uint item;
  uint slice;
  uint item_of_slice;
  Spot spot;
} Share;
static inline Spot spot_of_item(const uint item_of_slice);

// Pairs of tiles in local memory. With slices, `memory` is where both begin.
typedef struct {
  __local real (*a)[A_TILE];
  __local real (*b)[B_TILE];
  __local real *memory;
} Tiles;

// The kernel's: what is known of this work-item's share of the tiles, and the share itself on its way to local memory, in
// registers. Where the share begins is passed as pointers, from `a` and `b` on, and with cnn_layer's `places`, whose rows
// say where pixels lie: a pointer that was in a struct is no longer known to be read only, and then NVIDIA's compiler does
// not use the loads that are for that.
typedef struct Source Source;
typedef struct Copies Copies;
#define SHARE_POINTERS __global const real *a, __global const real *b, __global const int *places
#if AHEAD
// Sends its share of the tiles from `first_p` on to local memory, without registers.
ALWAYS_INLINE void start_tiles(SHARE_POINTERS, const Source *source, __local real *a_tile, __local real *b_tile,
                               const long first_p);
#else
// Reads its share of the tiles from `first_p` on; writes it to local memory.
ALWAYS_INLINE void fetch_tiles(Copies *copies, SHARE_POINTERS, const Source *source, const long first_p);
ALWAYS_INLINE void place_tiles(const Copies *copies, const Source *source, __local real *a_tile, __local real *b_tile);
#endif

// The kernel's: where sums go. Stores RUN of them, from row `row` and place `column` of the tile on.
typedef struct Results Results;
ALWAYS_INLINE void store_run(const Results *results, const int row, const int column, const real *run);
// With JOINED: is the first of such RUN an element of the result?
ALWAYS_INLINE int is_inside(const Results *results, const int row, const int column);

// The numbers of one p that a work-item multiplies: vectors `apart` from each other.
static inline void read_numbers(real *numbers, const int count, __local const real *from, const int apart) {
#pragma unroll
  for (int i = 0; i < count / V; ++i) STORE_VECTOR(*(__local const vector *)(from + i * apart), i, numbers);
}

// Declares `tiles`. A macro, because OpenCL wants local memory declared in the kernel itself.
#if SLICES == 1
#define DECLARE_TILES                                                  \
  __local real a_tiles[STAGES][A_TILE] __attribute__((aligned(128)));  \
  __local real b_tiles[STAGES][B_TILE] __attribute__((aligned(128)));  \
  const Tiles tiles = {a_tiles, b_tiles, 0};
#else
#define DECLARE_TILES                                                                                  \
  __local real memory[TILES_SIZE > SUMS_SIZE ? TILES_SIZE : SUMS_SIZE] __attribute__((aligned(128)));  \
  const Tiles tiles = {(__local real(*)[A_TILE])memory,                                                \
                       (__local real(*)[B_TILE])(memory + STAGES * A_TILE), memory};
#endif

ALWAYS_INLINE Share share_of_item(void) {
  Share share;
  share.item = (uint)get_local_id(0);
#if SLICES == 1
  share.slice = 0;
  share.item_of_slice = share.item;
#else
  share.slice = share.item / SLICE_ITEMS;
  share.item_of_slice = share.item - share.slice * SLICE_ITEMS;
#endif
  share.spot = spot_of_item(share.item_of_slice);
  return share;
}
