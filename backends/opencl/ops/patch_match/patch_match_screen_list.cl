// patch_match's screens: a work-item's list of the nearest candidates by sums near their distances, and the stack that
// is made of it. Of each sum as many bits are listed as the candidate's number leaves.
//
// The listed ones' distances are found as they are defined (docs/decisions/0017), sorted, and written. All others lie
// at the last listed sum or beyond it. Where the last distance kept is below what that sum stands for at least, no other
// can be among the stack; else the reference's count is left at -1, and a second launch, of
// patch_match_packed_key_lanes.cl, finds its stack. That happens where many candidates tie.
//
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DPATCH=4 -DPLACES=16 -DSPARE=4
#include "ops/patch_match/patch_match_stack.cl"

#define LISTED (PLACES + SPARE)
#define NOT_LISTED UINT_MAX
#define INFINITE_BITS 0x7f800000U

// The tile of a group, and how far a sum may be from a distance: see mathematics/patch_match_screen.h.
typedef struct {
  long tiles[2];  // along x and y
  int lanes[3];   // references of a tile
  int region[3];  // voxels; by planes those of a patch along z
  int row;        // from one row of the region to the next
  int plane;      // and from one plane
  uint number_mask;
  float most;       // a larger sum's distance is not kept
  float part;       // of a sum, that its distance has at least
  float underflow;  // and so much less
} Screen;
SIZE_ON_THE_HOST(Screen, 64);

// What exists of a reference's window, counted in the window as it is where no border cuts it.
typedef struct {
  int begin[3];
  int count[3];
  int width[3];
} Exists;

static inline long place_of(const Match* match, const int axis, const long number) {
  return min(match->start[axis] + number * match->step[axis], match->last_place[axis]);
}

static inline void find_exists(const Match* match, const Window* window, const long* number, Exists* exists) {
  for (int axis = 0; axis < 3; ++axis) {
    exists->width[axis] = (int)match->window[axis];
    exists->begin[axis] = (int)(window->first[axis] - place_of(match, axis, number[axis]) + match->window[axis] / 2);
    exists->count[axis] = (int)window->count[axis];
  }
}

// The first reference of the group's tile along each axis.
static inline void find_tile(const Screen* screen, long* tile) {
  const long line = quotient((long)get_group_id(0), screen->tiles[0]);
  const long plane = quotient(line, screen->tiles[1]);
  tile[0] = ((long)get_group_id(0) - line * screen->tiles[0]) * screen->lanes[0];
  tile[1] = (line - plane * screen->tiles[1]) * screen->lanes[1];
  tile[2] = plane * screen->lanes[2];
}

// Where fewer places are wanted, zeros stand before the nearest.
static inline void clear_list(const Match* match, uint* listed) {
  const int skipped = PLACES - (int)match->max_patches;
#pragma unroll
  for (int i = 0; i < LISTED; ++i) listed[i] = i < skipped ? 0U : NOT_LISTED;
}

// A reference's voxels: with OWN_STRIDE in local memory, so far from one to the next, as floats, else where they are in
// the volume.
#ifdef OWN_STRIDE
typedef __local const float* own_voxels;
#define OWN_VOXEL(own, number, at) ((element)(own)[(number) * OWN_STRIDE])
#else
typedef __global const element* own_voxels;
#define OWN_VOXEL(own, number, at) ((own)[at])
#endif

// The distance as it is defined.
static inline squared listed_distance(const Match* match, own_voxels own, __global const element* candidate) {
  squared planes = 0;
#pragma unroll
  for (int z = 0; z < (PATCH > 0 ? PATCH : match->patch[2]); ++z) {
    squared rows = 0;
#pragma unroll
    for (int y = 0; y < (PATCH > 0 ? PATCH : match->patch[1]); ++y) {
      const long first = (z * match->size[1] + y) * match->size[0];
      squared row = 0;
#pragma unroll
      for (int x = 0; x < (PATCH > 0 ? PATCH : match->patch[0]); ++x) {
        row += square_of(OWN_VOXEL(own, (z * PATCH + y) * PATCH + x, first + x), candidate[first + x]);
      }
      rows += row;
    }
    planes += rows;
  }
  return planes;
}

// The stack of what is listed, and whether nothing else can be among it.
typedef struct {
  int has_all;
  int are_equal;    // all that are listed, and there are more
  float last_sum;   // of what is not listed, the least
  float last_kept;  // distance of the last place, or the first that is not kept
} Listed;

static inline void sort_listed(const Match* match, const Screen* screen, const Exists* exists, own_voxels own,
                               __global const element* reference, uint* listed, patch_key* keys, Listed* all) {
  const uint mask = screen->number_mask;
  all->has_all = listed[LISTED - 1] == NOT_LISTED;
  all->last_sum = as_float((listed[LISTED - 1] & ~mask) >> 1);
  const squared unkept = first_unkept(match);
  const int number_bits = match->number_bits;
  const int skipped = PLACES - (int)match->max_patches;
  all->are_equal = !all->has_all && all->last_sum == 0;
  clear_stack(keys);
#pragma unroll 1
  for (int taken = 0; taken < LISTED; ++taken) {
    const uint nearest = listed[0];
#pragma unroll
    for (int i = 0; i < LISTED - 1; ++i) listed[i] = listed[i + 1];
    listed[LISTED - 1] = NOT_LISTED;
    if (taken < skipped || nearest == NOT_LISTED) continue;
    const int of_window = (int)(nearest & mask);
    const int line = small_quotient(of_window, exists->width[0]);
    const int x = of_window - line * exists->width[0];
    const int z = small_quotient(line, exists->width[1]);
    const int y = line - z * exists->width[1];
    const long away =
        ((z - exists->width[2] / 2) * match->size[1] + y - exists->width[1] / 2) * match->size[0] + x -
        exists->width[0] / 2;
    const squared distance = listed_distance(match, own, reference + away);
    all->are_equal = all->are_equal && distance == 0;
    if (!(distance < unkept)) continue;
    const int in_window =
        ((z - exists->begin[2]) * exists->count[1] + y - exists->begin[1]) * exists->count[0] + x - exists->begin[0];
    insert_key(keys, key_of(distance, (patch_key)in_window, number_bits));
  }

  patch_key last_key = 0;
#pragma unroll
  for (int i = 0; i < PLACES; ++i) last_key = max(last_key, i < match->max_patches ? keys[i] : 0);
  all->last_kept = (float)(last_key == NO_KEY ? unkept : distance_in(last_key, number_bits));
}

// Writes it, from its first place on, or leaves it to the second launch. `apart`: how far a sum may be from what fused
// operations make of differences.
static inline void write_listed(const Match* match, const Screen* screen, const Window* window, const patch_key* keys,
                                const Listed* all, const float apart, __global int* count,
                                __global stored* distances, __global long* indices) {
  // Is what is not listed beyond the last place? Where all that are listed equal the reference, it has higher numbers.
  const float least = (fmin(all->last_sum, MAXFLOAT) - apart) * screen->part - screen->underflow;
  const int is_found = all->has_all || all->are_equal || all->last_kept < least;
  *count = is_found ? write_stack(match, window, keys, distances, indices) : -1;
}
