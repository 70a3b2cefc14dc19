// kernel_regression by NVIDIA's tensor cores: how a group brings steps of packed rows to local memory. What includes it
// defines before: QUERIES and TILE_R training rows of a tile; ITEMS of the group; STEP_BYTES of each row; STAGES.
//
//   a stage   | QUERIES rows of a step | TILE_R rows of it |
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DQUERIES=64 -DTILE_R=128 -DITEMS=128 -DSTEP_BYTES=32 -DSTAGES=4
// Compiles alone with: -target nvptx64 -fgnu-keywords -DQUERIES=32 -DTILE_R=128 -DITEMS=64 -DSTEP_BYTES=64 -DSTAGES=3
#include "ops/nvidia_warp.cl"

#define STAGE_BYTES ((QUERIES + TILE_R) * STEP_BYTES)
#define QUERY_COPIES (QUERIES * STEP_BYTES / CHUNK_BYTES / ITEMS)
#define ROW_COPIES (TILE_R * STEP_BYTES / CHUNK_BYTES / ITEMS)
#if QUERY_COPIES * ITEMS * CHUNK_BYTES != QUERIES * STEP_BYTES || \
    ROW_COPIES * ITEMS * CHUNK_BYTES != TILE_R * STEP_BYTES || STAGES < 2
#error "the work-items do not share out a step evenly"
#endif

// This work-item's part in fetching steps, one after the other, tile after tile.
typedef struct {
  __global const uchar* rows;
  __global const uchar* queries;
  int left;     // steps that are not started
  int of_tile;  // of these, of the tile
  uint to;      // where its first piece of a stage lies in local memory
} Fetch;

ALWAYS_INLINE void start_step(Fetch* fetch, const uint slot, const int steps) {
  if (fetch->left == 0) return;
  const uint to = fetch->to + slot * STAGE_BYTES;
#pragma unroll
  for (int i = 0; i < QUERY_COPIES; ++i) start_copy(to + i * ITEMS * CHUNK_BYTES, fetch->queries + i * ITEMS * CHUNK_BYTES);
#pragma unroll
  for (int i = 0; i < ROW_COPIES; ++i) {
    start_copy(to + QUERIES * STEP_BYTES + i * ITEMS * CHUNK_BYTES, fetch->rows + i * ITEMS * CHUNK_BYTES);
  }
  fetch->rows += TILE_R * STEP_BYTES;
  fetch->queries += QUERIES * STEP_BYTES;
  --fetch->left;
  if (--fetch->of_tile != 0) return;
  fetch->of_tile = steps;
  fetch->queries -= (long)steps * (QUERIES * STEP_BYTES);
}

// From the packed rows of the group's block, and its packed queries, so many `steps` long; to `stages` in local memory.
ALWAYS_INLINE Fetch fetch_of(__global const uint* rows, __global const uint* queries, const uint stages, const int tiles,
                             const int steps) {
  const int first = (int)get_local_id(0) * CHUNK_BYTES;
  Fetch fetch;
  fetch.rows = (__global const uchar*)rows + first;
  fetch.queries = (__global const uchar*)queries + first;
  fetch.left = tiles * steps;
  fetch.of_tile = steps;
  fetch.to = stages + first;
  return fetch;
}

// Where a half of a row, 16 bytes, begins among 32 bytes of each: every second four rows have them exchanged.
#define ROW_BYTES 32
ALWAYS_INLINE uint place_of_half(const uint row, const uint part) {
  return row * ROW_BYTES + (part ^ row / 4 % 2) * CHUNK_BYTES;
}
