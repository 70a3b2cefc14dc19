// patch_match, box_sums of floats and 16 bits by NVIDIA's tensor cores: a group's tile, and its way into local memory.
//
//   loading      | words, not there yet              | what voxels are between | voxels as they are |
//   walking      | words | norms | what each warp notes |
//   stacks       | voxels as they are | lists | stacks and distances of each warp, where it noted |
//
//   words    two voxels in fp16 from each place on along x, by z, y and x. Rows of 16 are turned by 4 from each pair of
//            them to the next, so that five rows, of which a warp reads four words each, lie in banks of their own.
//   norms    of all candidates, halved and negative
//
// All of it at once is more than 48 KiB, so voxels are read again when the walk is over. In fp16 they are taken from the
// tile's mean and scaled by a power of two that brings the largest to [2^14, 2^15). Norms are of what fp16 holds. Where
// the volume ends, its last voxels are repeated.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/nvidia_halves.cl"
#include "ops/patch_match/patch_match_box_networks.cl"

#define ROW 16  // of words
#define PLANE (ROW * VOXELS_OF_TILE)
#define NORM_ROW PLACES_OF_TILE
#define NORM_PLANE (NORM_ROW * PLACES_OF_TILE)
// The four planes of a patch lie in banks of their own.
#if TYPE == 2
#define VOXEL_ROW 17
#define VOXEL_PLANE 296
#else
#define VOXEL_ROW 18
#define VOXEL_PLANE 336
#endif
#define VOXEL_BYTES (VOXEL_PLANE * VOXELS_OF_TILE * (TYPE == 2 ? 4 : 2))
#define COLUMNS_ALONG_X 3  // of a walk, at most
#define MOST_COLUMNS (COLUMNS_ALONG_X * 6)
#define NOTED_BYTES (MOST_COLUMNS * 2 * 32 * 4)  // of a warp
#define TOGETHER 32                              // listed candidates that a reference is sorted of at a time
#define SLOT_STRIDE (TOGETHER + 2)               // of a reference's distances: lanes lie in banks of their own
#define DISTANCES (UNIT_REFERENCES * SLOT_STRIDE)
#define STACK_BYTES (4 * UNIT_REFERENCES * (PLACES + 1))  // of sorted candidates, or keys, of a warp
#define FOUND_BYTES (STACK_BYTES + 5 * DISTANCES)
#define PLACE_BITS 13  // of a candidate's first voxel in a key
#define LOCAL_BYTES 49152
// Where everything begins.
#define NORMS_AT (4 * PLANE * VOXELS_OF_TILE)
#define NOTED_AT (NORMS_AT + 4 * NORM_PLANE * PLACES_OF_TILE)
#define FIRST_VOXELS_AT (LOCAL_BYTES - VOXEL_BYTES)
#define PARTS_AT NORMS_AT
#define LISTS_AT VOXEL_BYTES
#define LIST_STRIDE ((NOTED_AT - LISTS_AT) / 2 / WARPS)  // candidates of a warp
#define LISTED (LIST_STRIDE - TOGETHER)                  // what is behind a list's end is read
#define PARTS_BYTES (4 * 3 * WARPS)
#define LAST_VOXEL ((PLACES_OF_TILE - 1) * (VOXEL_PLANE + VOXEL_ROW + 1))  // of the candidates
#if NOTED_AT + WARPS * NOTED_BYTES > LOCAL_BYTES || NOTED_AT + 4 * PLANE * VOXELS_OF_TILE > LOCAL_BYTES
#error "what a walk takes is more than there is"
#endif
#if PARTS_AT + PARTS_BYTES > FIRST_VOXELS_AT || LISTED < 1 || LAST_VOXEL >> PLACE_BITS
#error "what stacks take is more than there is"
#endif
#if FOUND_BYTES > NOTED_BYTES || 8 * (TOGETHER + 2 * PLACES) > STACK_BYTES || VOXEL_ROW < VOXELS_OF_TILE
#error "distances take more than what is noted, or a row is longer than its place"
#endif

typedef struct {
  uchar bytes[LOCAL_BYTES];
} Shared;

ALWAYS_INLINE __local uint* words_of(__local Shared* shared) {
  return (__local uint*)shared->bytes;
}
ALWAYS_INLINE __local float* norms_of(__local Shared* shared) {
  return (__local float*)(shared->bytes + NORMS_AT);
}
ALWAYS_INLINE __local uchar* noted_by(__local Shared* shared, const int warp) {
  return shared->bytes + NOTED_AT + warp * NOTED_BYTES;
}
ALWAYS_INLINE __local ushort* lists_of(__local Shared* shared) {
  return (__local ushort*)(shared->bytes + LISTS_AT) + (int)get_local_id(0) / 32 * LIST_STRIDE;
}
ALWAYS_INLINE int word_at(const int x, const int y) {
  return y * ROW + (x + y / 2 * 4) % ROW;
}

// What voxels are taken from, and by what they are multiplied; 0: they are not finite, or differ by too much or too
// little.
typedef struct {
  float mean;
  float scale;
} Scale;

// Of a candidate that does not exist, halved and negative.
#define NO_NORM (-1e30f)

// What voxels of a work-item are between.
typedef struct {
  float least;
  float most;
  float sum;
} Between;

#define PARTS 3  // of a row, a work-item each
#define PART ((VOXELS_OF_TILE + PARTS - 1) / PARTS)

// The tile's voxels.
ALWAYS_INLINE void load_voxels(const Match* match, const Tile* tile, __global const element* volume,
                               __local element* voxels, Between* between) {
  int low[3], high[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = (int)clamp(-tile->first[axis], 0L, 100L);
    high[axis] = (int)clamp(match->size[axis] - 1 - tile->first[axis], -100L, 100L);
  }
  between->least = INFINITY;
  between->most = -INFINITY;
  between->sum = 0;
  volume += (tile->first[2] * match->size[1] + tile->first[1]) * match->size[0] + tile->first[0];
  for (int i = (int)get_local_id(0); i < PARTS * VOXELS_OF_TILE * VOXELS_OF_TILE; i += ITEMS) {
    const int row = i / PARTS;
    const int x = i % PARTS * PART;
    const int z = row / VOXELS_OF_TILE;
    const int y = row - z * VOXELS_OF_TILE;
    __global const element* const from =
        volume + ((long)min(max(z, low[2]), high[2]) * match->size[1] + min(max(y, low[1]), high[1])) * match->size[0];
    __local element* const to = voxels + z * VOXEL_PLANE + y * VOXEL_ROW + x;
#pragma unroll
    for (int k = 0; k < PART; ++k) {
      if (x + k >= VOXELS_OF_TILE) continue;
      const element voxel = from[min(max(x + k, low[0]), high[0])];
      to[k] = voxel;
      const float value = (float)voxel;
      between->least = fmin(between->least, value);
      between->most = fmax(between->most, value);
      between->sum += value;
    }
  }
}

ALWAYS_INLINE Scale scale_of(__local Shared* shared, const Between* of_item) {
  Between all = *of_item;
#pragma unroll
  for (int apart = 16; apart >= 1; apart /= 2) {
    all.least = fmin(all.least, as_float(of_lane_apart(as_int(all.least), apart)));
    all.most = fmax(all.most, as_float(of_lane_apart(as_int(all.most), apart)));
    all.sum += as_float(of_lane_apart(as_int(all.sum), apart));
  }
  __local float* const parts = (__local float*)(shared->bytes + PARTS_AT);
  const int item = (int)get_local_id(0);
  if (item % 32 == 0) {
    parts[item / 32] = all.least;
    parts[item / 32 + WARPS] = all.most;
    parts[item / 32 + 2 * WARPS] = all.sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  all.sum = 0;
#pragma unroll
  for (int i = 0; i < WARPS; ++i) {
    all.least = fmin(all.least, parts[i]);
    all.most = fmax(all.most, parts[i + WARPS]);
    all.sum += parts[i + 2 * WARPS];
  }
  Scale scale;
  scale.mean = all.sum * (1.0f / (VOXELS_OF_TILE * VOXELS_OF_TILE * VOXELS_OF_TILE));
  const float range = fmax(all.most - scale.mean, scale.mean - all.least);
  // NaN and infinities make the sum one of them.
  const int is_usable = range >= 0x1p-40f && range <= 0x1p60f && fabs(all.sum) < INFINITY;
  scale.scale = is_usable ? as_float((127 + 127 + 14 - (as_uint(range) >> 23)) << 23) : 0.0f;
  return scale;
}

#define FOURS (ROW / 4)  // words of a row that a work-item makes

// Words of the voxels that were loaded, four at a time.
ALWAYS_INLINE void make_words(const Scale* scale, __local Shared* shared) {
  __local const element* const voxels = (__local const element*)(shared->bytes + FIRST_VOXELS_AT);
  for (int i = (int)get_local_id(0); i < FOURS * VOXELS_OF_TILE * VOXELS_OF_TILE; i += ITEMS) {
    const int row = i / FOURS;
    const int x = i % FOURS * 4;
    const int z = row / VOXELS_OF_TILE;
    const int y = row - z * VOXELS_OF_TILE;
    __local const element* const from = voxels + z * VOXEL_PLANE + y * VOXEL_ROW + x;
    float scaled[5];
#pragma unroll
    for (int k = 0; k < 5; ++k) scaled[k] = ((float)from[k] - scale->mean) * scale->scale;
    uint4 four;
    four.x = pair_of(scaled[0], scaled[1]);
    four.y = pair_of(scaled[1], scaled[2]);
    four.z = pair_of(scaled[2], scaled[3]);
    four.w = pair_of(scaled[3], scaled[4]);
    *(__local uint4*)(words_of(shared) + z * PLANE + word_at(x, y)) = four;
  }
}

// Of the four voxels from each place on along x, the sums of squares, where voxels were.
ALWAYS_INLINE void square_rows(__local Shared* shared) {
  __local float* const squares = (__local float*)(shared->bytes + NOTED_AT);
  for (int i = (int)get_local_id(0); i < FOURS * VOXELS_OF_TILE * VOXELS_OF_TILE; i += ITEMS) {
    const int row = i / FOURS;
    const int x = i % FOURS * 4;
    const int z = row / VOXELS_OF_TILE;
    const int y = row - z * VOXELS_OF_TILE;
    __local const uint* const words = words_of(shared) + z * PLANE;
    float square[8];
#pragma unroll
    for (int k = 0; k < 8; k += 2) {
      // The last voxel is the second one of the last word; what lies behind it is not wanted.
      const uint pair = words[word_at(min(x + k, ROW - 1), y)] >> (x + k < ROW ? 0 : 16);
      square[k] = first_of(pair) * first_of(pair);
      square[k + 1] = second_of(pair) * second_of(pair);
    }
    float4 four;
    four.x = (square[0] + square[1]) + (square[2] + square[3]);
    four.y = (square[1] + square[2]) + (square[3] + square[4]);
    four.z = (square[2] + square[3]) + (square[4] + square[5]);
    four.w = (square[3] + square[4]) + (square[5] + square[6]);
    *(__local float4*)(squares + row * ROW + x) = four;
  }
}

// A work-item a column along z, whose planes' sums of squares add up to norms.
ALWAYS_INLINE void find_norms(const Match* match, const Tile* tile, __local Shared* shared) {
  __local const float* const squares = (__local const float*)(shared->bytes + NOTED_AT);
  const int low = (int)clamp(-tile->first[2], 0L, 100L);
  const int end = (int)clamp(match->places[2] - tile->first[2], 0L, 100L);
#pragma unroll 1
  for (int i = (int)get_local_id(0); i < ROW * PLACES_OF_TILE; i += ITEMS) {
    const int y = i / ROW;
    const int x = i % ROW;
    if (x >= PLACES_OF_TILE) continue;
    const int is_column = tile->first[0] + x >= 0 && tile->first[0] + x < match->places[0] &&
                          tile->first[1] + y >= 0 && tile->first[1] + y < match->places[1];
    const int high = is_column ? end : 0;
    __local float* const to = norms_of(shared) + y * NORM_ROW + x;
    float planes[SIDE] = {0, 0, 0, 0};
#pragma unroll
    for (int z = 0; z < VOXELS_OF_TILE; ++z) {
      __local const float* const at = squares + z * PLANE + i;
      planes[z % SIDE] = (at[0] + at[ROW]) + (at[2 * ROW] + at[3 * ROW]);
      if (z < SIDE - 1) continue;
      const int place = z - (SIDE - 1);
      const float norm = (planes[0] + planes[1]) + (planes[2] + planes[3]);
      to[place * NORM_PLANE] = place >= low && place < high ? -0.5f * norm : NO_NORM;
    }
  }
}

// All work-items call it.
ALWAYS_INLINE Scale load_tile(const Match* match, const Tile* tile, __global const element* volume,
                              __local Shared* shared) {
  Between between;
  load_voxels(match, tile, volume, (__local element*)(shared->bytes + FIRST_VOXELS_AT), &between);
  const Scale scale = scale_of(shared, &between);
  if (scale.scale == 0) return scale;  // the same of all
  make_words(&scale, shared);
  barrier(CLK_LOCAL_MEM_FENCE);
  square_rows(shared);
  barrier(CLK_LOCAL_MEM_FENCE);
  find_norms(match, tile, shared);
  barrier(CLK_LOCAL_MEM_FENCE);
  return scale;
}
