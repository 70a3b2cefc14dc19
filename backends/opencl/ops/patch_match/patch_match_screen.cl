// patch_match, packed_key_lanes, of floats and 16 bits: a group a tile of references, whose candidates' voxels all lie in
// local memory.
//
//   region of a tile      a line of 32    A work-item has one reference and walks over its window, ROWS rows of LANES
//   +-----------------+   references: 8   candidates at a time: a row of voxels is read once for all of them. Voxels are
//   | +-------------+ |   along x, 4      subtracted and squares added, fused, two operations in place of three and none
//   | | references  | |   along z; or     of 64 bits: so the sums are near the distances, but not the same bits.
//   | +-------------+ |   32 along x      They screen: a list of the nearest, SPARE more than the stack has places, is
//   +-----------------+                   kept by them, 32 bits each. The listed ones' distances are then found as
//                                         defined (docs/decisions/0017), sorted, and written.
//
// All others lie at the last listed sum or beyond it. Where the last distance kept is below what that sum stands for at
// least, no other can be among the stack; else the reference's count is left at -1, and a second launch, of
// patch_match_packed_key_lanes.cl, finds its stack. That happens where many candidates tie.
//
// 16 bits are held as they are: put into a float's low bits they are themselves and 2^23, which differences lose.
//
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DPATCH=4 -DLANES=11 -DROWS=2 -DPLACES=16 -DSPARE=4 -DGROUP=128
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DPATCH=0 -DLANES=8 -DROWS=2 -DPLACES=32 -DSPARE=4 -DGROUP=128
#include "ops/patch_match/patch_match_stack.cl"

#define LISTED (PLACES + SPARE)
#define NOT_LISTED UINT_MAX
#define INFINITE_BITS 0x7f800000U

// The tile of a group, and how far a sum may be from a distance: see mathematics/patch_match_screen.h.
typedef struct {
  long tiles[2];  // along x and y
  int lanes[3];   // references of a line along x and z, and lines along y
  int region[3];  // voxels
  int row;        // from one row of the region to the next
  int plane;      // and from one plane
  uint number_mask;
  float most;       // a larger sum's distance is not kept
  float part;       // of a sum, that its distance has at least
  float underflow;  // and so much less
} Screen;
SIZE_ON_THE_HOST(Screen, 64);

static inline float number_of(const element voxel) {
#if TYPE == 1
  return as_float(0x4b000000U | voxel);
#else
  return voxel;
#endif
}

// One reference, and the candidates around it.
typedef struct {
  __local const element* own;         // its first voxel
  __local const element* candidates;  // the first of its window, were it whole
  int patch[3];
  int width[3];  // of the window
  int begin[3];  // what exists of it
  int count[3];
} Seeker;

static inline long place_of(const Match* match, const int axis, const long number) {
  return min(match->start[axis] + number * match->step[axis], match->last_place[axis]);
}

// The tile's voxels, zeros where the volume has none.
static inline void load_region(const Match* match, const Screen* screen, __global const element* volume,
                               const long* first, __local element* region) {
  const int item = (int)get_local_id(0);
  for (int line = item / 32; line < screen->region[1] * screen->region[2]; line += GROUP / 32) {
    const int plane = small_quotient(line, screen->region[1]);
    const int row = line - plane * screen->region[1];
    const long y = first[1] + row;
    const long z = first[2] + plane;
    const int is_there = y >= 0 && y < match->size[1] && z >= 0 && z < match->size[2];
    const long from = (z * match->size[1] + y) * match->size[0] + first[0];
    __local element* const to = region + plane * screen->plane + row * screen->row;
    for (int x = item % 32; x < screen->region[0]; x += 32) {
      const long at = first[0] + x;
      to[x] = is_there && at >= 0 && at < match->size[0] ? volume[from + x] : (element)0;
    }
  }
}

// A row of the candidates' voxels, which is row `row - of` of the patches of row `of`: so many voxels of each patch.
static inline void add_rows(const Screen* screen, const int rows, const int voxels, const int patch_rows, __local const element* own,
                            __local const element* candidates, const int row, float* sums) {
  float there[LANES + 3];
#pragma unroll
  for (int i = 0; i < LANES + voxels - 1; ++i) there[i] = number_of(candidates[i]);
#pragma unroll
  for (int of = 0; of < rows; ++of) {
    if (row < of || row - of >= patch_rows) continue;
#pragma unroll
    for (int x = 0; x < voxels; ++x) {
      const float here = number_of(own[x - of * screen->row]);
#pragma unroll
      for (int i = 0; i < LANES; ++i) {
        const float apart = here - there[i + x];
        sums[of * LANES + i] = fma(apart, apart, sums[of * LANES + i]);
      }
    }
  }
}

// The sums of so many rows of candidates, whose first stands here.
static inline void add_up(const Screen* screen, const Seeker* seeker, const int rows,
                          __local const element* candidates, float* sums) {
#pragma unroll
  for (int i = 0; i < rows * LANES; ++i) sums[i] = 0;
  __local const element* own = seeker->own;
#pragma unroll 1
  for (int plane = 0; plane < (PATCH > 0 ? PATCH : seeker->patch[2]); ++plane) {
#if PATCH
#pragma unroll
    for (int row = 0; row < PATCH + rows - 1; ++row) {
      add_rows(screen, rows, PATCH, PATCH, own + row * screen->row, candidates + row * screen->row, row, sums);
    }
#else
#pragma unroll 1
    for (int row = 0; row < seeker->patch[1] + rows - 1; ++row) {
      const int at = row * screen->row;
      int x = 0;
#pragma unroll 1
      for (; x + 4 <= seeker->patch[0]; x += 4) {
        add_rows(screen, rows, 4, seeker->patch[1], own + at + x, candidates + at + x, row, sums);
      }
#pragma unroll 1
      for (; x < seeker->patch[0]; ++x) {
        add_rows(screen, rows, 1, seeker->patch[1], own + at + x, candidates + at + x, row, sums);
      }
    }
#endif
    own += screen->plane;
    candidates += screen->plane;
  }
}

// Lists the nearest of so many rows of candidates by their sums: of each as many bits as its number leaves.
static inline void look_at(const Screen* screen, const Seeker* seeker, const int rows, const int y, const int z,
                           __local float* staged, uint* listed, float* bound) {
  const uint mask = screen->number_mask;
#pragma unroll 1
  for (int x = 0; x < seeker->width[0]; x += LANES) {
    float sums[ROWS * LANES];
    add_up(screen, seeker, rows, seeker->candidates + z * screen->plane + y * screen->row + x, sums);
    // Of candidates that exist.
    const int end = clamp(seeker->begin[0] + seeker->count[0] - x, 0, LANES);
    const int begin = min(max(seeker->begin[0] - x, 0), end);
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      uint nearer = 0;
#pragma unroll
      for (int i = 0; i < LANES; ++i) nearer |= sums[row * LANES + i] <= *bound ? 1U << i : 0U;
      nearer &= (1U << end) - (1U << begin);
      if (nearer != 0) {
#pragma unroll
        for (int i = 0; i < LANES; ++i) staged[i * GROUP] = sums[row * LANES + i];
      }
      const uint number = (uint)((z * seeker->width[1] + y + row) * seeker->width[0] + x);
#pragma unroll 1
      for (; nearer != 0; nearer &= nearer - 1) {
        const int i = 31 - (int)clz(nearer & -nearer);
        const float sum = staged[i * GROUP];
        if (!(sum <= *bound)) continue;
        const uint key = (as_uint(sum) << 1 & ~mask) | (number + (uint)i);
#pragma unroll
        for (int place = LISTED - 1; place > 0; --place) {
          listed[place] = min(listed[place], max(listed[place - 1], key));
        }
        listed[0] = min(listed[0], key);
        const uint last = (listed[LISTED - 1] | mask) >> 1;
        if (last < INFINITE_BITS) *bound = as_float(last);
      }
    }
  }
}

// The distance as it is defined.
static inline squared region_distance(const Screen* screen, const Seeker* seeker, __local const element* candidate) {
  __local const element* own = seeker->own;
  squared planes = 0;
#pragma unroll 1
  for (int z = 0; z < (PATCH > 0 ? PATCH : seeker->patch[2]); ++z) {
    squared rows = 0;
#pragma unroll 1
    for (int y = 0; y < (PATCH > 0 ? PATCH : seeker->patch[1]); ++y) {
      squared row = 0;
      for (int x = 0; x < (PATCH > 0 ? PATCH : seeker->patch[0]); ++x) {
        row += square_of(own[y * screen->row + x], candidate[y * screen->row + x]);
      }
      rows += row;
    }
    planes += rows;
    own += screen->plane;
    candidate += screen->plane;
  }
  return planes;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void patch_match_screen(PATCH_MATCH_OPERANDS,
                                                                                    const Match match,
                                                                                    const Screen screen,
                                                                                    __local element* region) {
  __local float staged[LANES][GROUP];
  const int item = (int)get_local_id(0);
  const long line_of_tiles = quotient((long)get_group_id(0), screen.tiles[0]);
  const long plane_of_tiles = quotient(line_of_tiles, screen.tiles[1]);
  const int along_z = small_quotient(item % 32, screen.lanes[0]);
  const long tile[3] = {((long)get_group_id(0) - line_of_tiles * screen.tiles[0]) * screen.lanes[0],
                        (line_of_tiles - plane_of_tiles * screen.tiles[1]) * screen.lanes[1],
                        plane_of_tiles * screen.lanes[2]};
  const long number[3] = {tile[0] + item % 32 - along_z * screen.lanes[0], tile[1] + item / 32, tile[2] + along_z};
  long first[3];
  for (int axis = 0; axis < 3; ++axis) first[axis] = place_of(&match, axis, tile[axis]) - match.window[axis] / 2;
  load_region(&match, &screen, volume + volume_first, first, region);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (number[0] >= match.references[0] || number[1] >= match.references[1] || number[2] >= match.references[2]) return;

  const long reference = (number[2] * match.references[1] + number[1]) * match.references[0] + number[0];
  Window window;
  find_window(&match, reference, &window);
  Seeker seeker;
  int from_first[3];
  for (int axis = 0; axis < 3; ++axis) {
    const long place = place_of(&match, axis, number[axis]);
    from_first[axis] = (int)(place - first[axis]);
    seeker.patch[axis] = (int)match.patch[axis];
    seeker.width[axis] = (int)match.window[axis];
    seeker.begin[axis] = (int)(window.first[axis] - place + match.window[axis] / 2);
    seeker.count[axis] = (int)window.count[axis];
  }
  seeker.own = region + from_first[2] * screen.plane + from_first[1] * screen.row + from_first[0];
  seeker.candidates =
      seeker.own - seeker.width[2] / 2 * screen.plane - seeker.width[1] / 2 * screen.row - seeker.width[0] / 2;

  // Where fewer places are wanted, zeros stand before the nearest.
  const uint mask = screen.number_mask;
  const int skipped = PLACES - (int)match.max_patches;
  float bound = screen.most;
  uint listed[LISTED];
#pragma unroll
  for (int i = 0; i < LISTED; ++i) listed[i] = i < skipped ? 0U : NOT_LISTED;
#pragma unroll 1
  for (int z = seeker.begin[2]; z < seeker.begin[2] + seeker.count[2]; ++z) {
    const int end = seeker.begin[1] + seeker.count[1];
    int y = seeker.begin[1];
#pragma unroll 1
    for (; y + ROWS <= end; y += ROWS) look_at(&screen, &seeker, ROWS, y, z, &staged[0][item], listed, &bound);
#pragma unroll 1
    for (; y < end; ++y) look_at(&screen, &seeker, 1, y, z, &staged[0][item], listed, &bound);
  }

  // The listed ones' distances, as they are defined.
  const int has_all = listed[LISTED - 1] == NOT_LISTED;
  const float last_sum = as_float((listed[LISTED - 1] & ~mask) >> 1);
  const squared unkept = first_unkept(&match);
  const int number_bits = match.number_bits;
  squared farthest = 0;
  patch_key keys[PLACES];
  clear_stack(keys);
#pragma unroll 1
  for (int taken = 0; taken < LISTED; ++taken) {
    const uint nearest = listed[0];
#pragma unroll
    for (int i = 0; i < LISTED - 1; ++i) listed[i] = listed[i + 1];
    listed[LISTED - 1] = NOT_LISTED;
    if (taken < skipped || nearest == NOT_LISTED) continue;
    const int of_window = (int)(nearest & mask);
    const int line = small_quotient(of_window, seeker.width[0]);
    const int x = of_window - line * seeker.width[0];
    const int z = small_quotient(line, seeker.width[1]);
    const int y = line - z * seeker.width[1];
    const squared distance =
        region_distance(&screen, &seeker, seeker.candidates + z * screen.plane + y * screen.row + x);
    farthest = farthest < distance ? distance : farthest;
    if (!(distance < unkept)) continue;
    const int in_window = ((z - seeker.begin[2]) * seeker.count[1] + y - seeker.begin[1]) * seeker.count[0] + x -
                          seeker.begin[0];
    insert_key(keys, key_of(distance, (patch_key)in_window, number_bits));
  }

  // Is what is not listed beyond the last place? Where all that are listed equal the reference, it has higher numbers.
  patch_key last_key = 0;
#pragma unroll
  for (int i = 0; i < PLACES; ++i) last_key = max(last_key, i < match.max_patches ? keys[i] : 0);
  const float last_kept = (float)(last_key == NO_KEY ? unkept : distance_in(last_key, number_bits));
  const float least = fmin(last_sum, MAXFLOAT) * screen.part - screen.underflow;
  const int are_equal = last_sum == 0 && farthest == 0;
  if (!has_all && !are_equal && !(last_kept < least)) {
    counts[counts_first + reference] = -1;
    return;
  }
  const ulong place = (ulong)(reference * match.max_patches);
  counts[counts_first + reference] =
      write_stack(&match, &window, keys, distances + distances_first + place, indices + indices_first + place);
}
