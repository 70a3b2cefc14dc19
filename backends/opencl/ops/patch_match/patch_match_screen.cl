// patch_match, packed_key_lanes, of floats and 16 bits: a group a tile of references, whose candidates' voxels all lie
// in local memory.
//
//   region of a tile      a line of 32    A work-item has one reference and walks over its window, ROWS rows of LANES
//   +-----------------+   references: 8   candidates at a time: a row of voxels is read once for all of them. Voxels
//   | +-------------+ |   along x, 4      are subtracted and squares added, fused, two operations in place of three and
//   | | references  | |   along z; or     none of 64 bits: so the sums are near the distances, but not the same bits.
//   | +-------------+ |   32 along x      They screen: a list of the nearest, SPARE more than the stack has places, is
//   +-----------------+                   kept by them, 32 bits each. See patch_match_screen_list.cl.
//
// 16 bits are held as they are: put into a float's low bits they are themselves and 2^23, which differences lose.
//
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DPATCH=4 -DLANES=11 -DROWS=2 -DPLACES=16 -DSPARE=4 -DGROUP=128
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DPATCH=0 -DLANES=8 -DROWS=2 -DPLACES=32 -DSPARE=4 -DGROUP=128
#include "ops/patch_match/patch_match_screen_list.cl"

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
} Seeker;

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
static inline void add_rows(const Screen* screen, const int rows, const int voxels, const int patch_rows,
                            __local const element* own, __local const element* candidates, const int row,
                            float* sums) {
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

// Lists the nearest of so many rows of candidates. What lists them stands in patch_match_screen_planes.cl too: as one
// function for both, it makes Intel's compiler (2026.22) end in a fault of its own.
static inline void look_at(const Screen* screen, const Exists* exists, const Seeker* seeker, const int rows,
                           const int y, const int z, __local float* staged, uint* listed, float* bound) {
  const uint mask = screen->number_mask;
#pragma unroll 1
  for (int x = 0; x < exists->width[0]; x += LANES) {
    float sums[ROWS * LANES];
    add_up(screen, seeker, rows, seeker->candidates + z * screen->plane + y * screen->row + x, sums);
    // Of candidates that exist.
    const int end = clamp(exists->begin[0] + exists->count[0] - x, 0, LANES);
    const int begin = min(max(exists->begin[0] - x, 0), end);
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
      const uint number = (uint)((z * exists->width[1] + y + row) * exists->width[0] + x);
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

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void patch_match_screen(PATCH_MATCH_OPERANDS,
                                                                                    const Match match,
                                                                                    const Screen screen,
                                                                                    __local element* region) {
  __local float staged[LANES][GROUP];
  const int item = (int)get_local_id(0);
  const int along_z = small_quotient(item % 32, screen.lanes[0]);
  long tile[3];
  find_tile(&screen, tile);
  const long number[3] = {tile[0] + item % 32 - along_z * screen.lanes[0], tile[1] + item / 32, tile[2] + along_z};
  long first[3];
  for (int axis = 0; axis < 3; ++axis) first[axis] = place_of(&match, axis, tile[axis]) - match.window[axis] / 2;
  load_region(&match, &screen, volume + volume_first, first, region);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (number[0] >= match.references[0] || number[1] >= match.references[1] || number[2] >= match.references[2]) return;

  const long reference = (number[2] * match.references[1] + number[1]) * match.references[0] + number[0];
  Window window;
  find_window(&match, reference, &window);
  Exists exists;
  find_exists(&match, &window, number, &exists);
  Seeker seeker;
  int from_first[3];
  for (int axis = 0; axis < 3; ++axis) {
    from_first[axis] = (int)(place_of(&match, axis, number[axis]) - first[axis]);
    seeker.patch[axis] = (int)match.patch[axis];
  }
  seeker.own = region + from_first[2] * screen.plane + from_first[1] * screen.row + from_first[0];
  seeker.candidates =
      seeker.own - exists.width[2] / 2 * screen.plane - exists.width[1] / 2 * screen.row - exists.width[0] / 2;

  float bound = screen.most;
  uint listed[LISTED];
  clear_list(&match, listed);
  __local float* const mine = &staged[0][item];
#pragma unroll 1
  for (int z = exists.begin[2]; z < exists.begin[2] + exists.count[2]; ++z) {
    const int end = exists.begin[1] + exists.count[1];
    int y = exists.begin[1];
#pragma unroll 1
    for (; y + ROWS <= end; y += ROWS) look_at(&screen, &exists, &seeker, ROWS, y, z, mine, listed, &bound);
#pragma unroll 1
    for (; y < end; ++y) look_at(&screen, &exists, &seeker, 1, y, z, mine, listed, &bound);
  }
  const ulong place = (ulong)(reference * match.max_patches);
  patch_key keys[PLACES];
  Listed all;
  __global const element* const own = volume + volume_first + window.reference;
  sort_listed(&match, &screen, &exists, own, own, listed, keys, &all);
  write_listed(&match, &screen, &window, keys, &all, 0.0F, counts + counts_first + reference,
               distances + distances_first + place, indices + indices_first + place);
}
