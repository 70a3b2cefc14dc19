// patch_match, box_sums of bytes by NVIDIA's tensor cores: a group's tile, and its way into local memory.
//
//   | words: the four voxels from each place on along x | norms of all candidates, negative halves | what each warp notes,
//   and its lists |      by z, y and x, x next to each other
//
// A place whose candidate does not exist has a norm beyond every limit, and so have two behind each plane.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/nvidia_bytes.cl"
#include "ops/patch_match/patch_match_box_networks.cl"

// Of candidates along y and z. A column's rows are two, so that one behind those of an even window is read.
#define PLACES_Y (TILE + (WINDOW_Y | 1) - 1)
#define PLACES_Z (TILE + WINDOW_Z - 1)
#define VOXELS_Y (PLACES_Y + SIDE - 1)
#define VOXELS_Z (PLACES_Z + SIDE - 1)
// With rows of 14 five of them, of which a warp reads four words each, lie in banks of their own.
#define ROW PLACES_OF_TILE
#define WORD_PLANE (ROW * VOXELS_Y)
#define NO_CANDIDATE (ROW * PLACES_Y)  // in a plane of norms
#define NORM_PLANE (NO_CANDIDATE + 2)
#define WORDS (WORD_PLANE * VOXELS_Z)
#define NORMS (NORM_PLANE * PLACES_Z)
#define PLANE_BITS 8  // of a candidate's number: its place in the plane, below where it is along z
#define NUMBER_BITS 12
#define NO_NORM (-(1 << 29))
#define NOTES 22     // words that a lane notes of columns, at most
#define LISTED 768   // candidates of a warp's lists
#if NO_CANDIDATE > 1 << PLANE_BITS || PLACES_Z > 1 << (NUMBER_BITS - PLANE_BITS)
#error "a key has no bits for so many candidates"
#endif

typedef struct {
  uint words[WORDS];
  int norms[NORMS];
  uint notes[WARPS][32 * NOTES];
  ushort lists[WARPS][LISTED];
} Shared;

ALWAYS_INLINE uint add_products(const uint word, uint sum) {
  asm("dp4a.u32.u32 %0, %1, %1, %0;" : "+r"(sum) : "r"(word));
  return sum;
}

#define PARTS 2  // of a row, a work-item each
#define PART (ROW / PARTS)

// Words of the tile's region, which begins half a window before its first reference; voxels beyond the volume are 0.
ALWAYS_INLINE void load_words(const Match* match, const Tile* tile, __global const uchar* volume,
                              __local Shared* shared) {
  for (int i = (int)get_local_id(0); i < PARTS * VOXELS_Y * VOXELS_Z; i += ITEMS) {
    const int row = i / PARTS;
    const int x = i % PARTS * PART;
    const int plane = row / VOXELS_Y;
    const long y = tile->first[1] + row - plane * VOXELS_Y;
    const long z = tile->first[2] + plane;
    const int is_row = y >= 0 && y < match->size[1] && z >= 0 && z < match->size[2];
    const long begin = tile->first[0] + x;
    const int low = (int)clamp(-begin, 0L, 100L);
    const int high = is_row ? (int)clamp(match->size[0] - begin, 0L, 100L) : 0;
    __global const uchar* const voxels = volume + ((z * match->size[1] + y) * match->size[0] + begin);
    uint word = 0;
#pragma unroll
    for (int k = 0; k < PART + SIDE - 1; ++k) {
      uint voxel = 0;
      if (k >= low && k < high) voxel = voxels[k];
      word = word >> 8 | voxel << 24;
      if (k >= SIDE - 1) shared->words[row * ROW + x + k - (SIDE - 1)] = word;
    }
  }
}

// A work-item a column along z, whose planes' sums of squares add up to norms.
ALWAYS_INLINE void find_norms(const Match* match, const Tile* tile, __local Shared* shared) {
  const int low = (int)clamp(-tile->first[2], 0L, 100L);
  const int end = (int)clamp(match->places[2] - tile->first[2], 0L, 100L);
#pragma unroll 1
  for (int i = (int)get_local_id(0); i < NORM_PLANE; i += ITEMS) {
    const int y = i / ROW;
    const int x = i - y * ROW;
    const int is_column = i < NO_CANDIDATE && tile->first[0] + x >= 0 && tile->first[0] + x < match->places[0] &&
                          tile->first[1] + y >= 0 && tile->first[1] + y < match->places[1];
    const int high = is_column ? end : 0;
    __local const uint* const words = shared->words + min(i, NO_CANDIDATE - 1);
    uint planes[SIDE] = {0, 0, 0, 0};
#pragma unroll
    for (int z = 0; z < VOXELS_Z; ++z) {
      uint sum = 0;
#pragma unroll
      for (int row = 0; row < SIDE; ++row) sum = add_products(words[z * WORD_PLANE + row * ROW], sum);
      planes[z % SIDE] = sum;
      if (z < SIDE - 1) continue;
      const int place = z - (SIDE - 1);
      const uint norm = planes[0] + planes[1] + planes[2] + planes[3];
      shared->norms[place * NORM_PLANE + i] = place >= low && place < high ? -(int)(norm / 2) : NO_NORM;
    }
  }
}

// Words and norms of the tile's region. All work-items call it.
ALWAYS_INLINE void load_tile(const Match* match, const Tile* tile, __global const uchar* volume,
                             __local Shared* shared) {
  load_words(match, tile, volume, shared);
  barrier(CLK_LOCAL_MEM_FENCE);
  find_norms(match, tile, shared);
  barrier(CLK_LOCAL_MEM_FENCE);
}
