// A tile of a product in work-items' registers, fed through local memory: what gemm's register and cnn_layer's
// implicit_gemm share. Options: FLOAT64, 0 or 1, TILE_M, TILE_N, WORK_M, WORK_N, DEPTH, SLICES, STAGES. Behind it comes
// gemm_register_fma.cl, where a work-item multiplies by itself, or gemm_register_tensor.cl, where 32 do it together; then the
// kernel. gemm_register_local.cl draws the picture and says what each part of it is worth.
//
// A kernel that uses it defines
//   A_WIDTH, B_WIDTH    elements from one p to the next in the tiles in local memory: TILE_M and TILE_N, or where they
//                       are turned, or as tensor cores read them, PADDING more
//   RUN                 elements that are stored together: V times a divisor of WORK_N / SLICES
//   FETCH(p)            reads this work-item's share of the tiles from p on into registers
//   PLACE(pair)         writes it to a_tiles[pair] and b_tiles[pair]
//   START(pair, p)      with tensor cores, in place of both: sends it there without registers
//   STORE(r, c, run)    stores RUN sums of the tile from row r, column c on, given as an array
// and says DECLARE_TILES, MULTIPLY_TILES and STORE_TILES.
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
#define A_TILE (DEPTH * A_WIDTH)
#define B_TILE (DEPTH * B_WIDTH)
// With slices the same memory holds their sums at the end: of V rows of every work-item at a time, WORK_N vectors.
#define TILES_SIZE (STAGES * (A_TILE + B_TILE))
#define SUMS_SIZE (WORK_N * V * ITEMS)
#if WORK_N % SLICES != 0
#error "no such number of slices"
#endif

// Where a work-item's elements begin in the tile.
typedef struct {
  int row;
  int column;
} Spot;
// The numbers of one p that a work-item multiplies: vectors `apart` from each other.
static inline void read_numbers(real *numbers, const int count, __local const real *from, const int apart) {
#pragma unroll
  for (int i = 0; i < count / V; ++i) STORE_VECTOR(*(__local const vector *)(from + i * apart), i, numbers);
}

// Pairs of tiles in local memory, and what of them this work-item computes.
#if SLICES == 1
#define DECLARE_TILES                                                     \
  __local real a_tiles[STAGES][A_TILE] __attribute__((aligned(128)));     \
  __local real b_tiles[STAGES][B_TILE] __attribute__((aligned(128)));     \
  const uint slice = 0;                                                   \
  const uint item = (uint)get_local_id(0);                                \
  const uint item_of_slice = item;                                        \
  const Spot spot = spot_of_item(item_of_slice);
#else
#define DECLARE_TILES                                                                                    \
  __local real memory[TILES_SIZE > SUMS_SIZE ? TILES_SIZE : SUMS_SIZE] __attribute__((aligned(128)));    \
  __local real(*const a_tiles)[A_TILE] = (__local real(*)[A_TILE])memory;                                \
  __local real(*const b_tiles)[B_TILE] = (__local real(*)[B_TILE])(memory + STAGES * A_TILE);            \
  const uint item = (uint)get_local_id(0);                                                               \
  const uint slice = item / SLICE_ITEMS;                                                                 \
  const uint item_of_slice = item - slice * SLICE_ITEMS;                                                 \
  const Spot spot = spot_of_item(item_of_slice);
#endif

// With slices, every one leaves its sums in local memory and adds up its share of all slices', in their order.
#if SLICES == 1
#define STORE_TILES                                                                                         \
  _Pragma("unroll") for (int i = 0; i < WORK_M; ++i) {                                                      \
    _Pragma("unroll") for (int j = 0; j < WORK_N; j += RUN) {                                               \
      STORE(spot.row + ROW_OF(i), spot.column + COLUMN_OF(j), &sums[i][j]);                                 \
    }                                                                                                       \
  }
#else
#define STORE_TILES                                                                                         \
  __local vector *const left = (__local vector *)memory + item_of_slice;                                    \
  _Pragma("unroll") for (int i = 0; i < WORK_M; i += V) {                                                   \
    barrier(CLK_LOCAL_MEM_FENCE); /* nobody reads tiles, or the sums before, any more */                    \
    _Pragma("unroll") for (int e = 0; e < WORK_N; ++e) {                                                    \
      left[(slice * WORK_N + e) * SLICE_ITEMS] =                                                            \
          LOAD_VECTOR(0, &sums[i + e / (WORK_N / V)][e % (WORK_N / V) * V]);                                \
    }                                                                                                       \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                           \
    _Pragma("unroll") for (int mine = 0; mine < WORK_N / SLICES; mine += RUN / V) {                         \
      const int first_e = (int)slice * (WORK_N / SLICES) + mine;                                            \
      real run[RUN];                                                                                        \
      _Pragma("unroll") for (int e = first_e; e < first_e + RUN / V; ++e) {                                 \
        vector sum = left[e * SLICE_ITEMS];                                                                 \
        _Pragma("unroll") for (int other = 1; other < SLICES; ++other) {                                    \
          sum += left[(other * WORK_N + e) * SLICE_ITEMS];                                                  \
        }                                                                                                   \
        STORE_VECTOR(sum, e - first_e, run);                                                                \
      }                                                                                                     \
      STORE(spot.row + ROW_OF(i + first_e / (WORK_N / V)),                                                  \
            spot.column + COLUMN_OF(first_e % (WORK_N / V) * V), run);                                      \
    }                                                                                                       \
  }
#endif
