// patch_match, packed_key_lanes, of floats and 16 bits: the screen of patch_match_screen.cl where a patch is a cube of
// 4 voxels. A group's references lie in one plane, 8 along x and GROUP / 8 along y, and it walks over the window's
// planes; of the tile's region as many planes as a patch has are in local memory at a time, as floats, so that little of
// it suffices.
//
//   planes of the region    . . 2 3 4 5 . .     candidates of one plane of the window need four; for the next plane one
//   their slots                 2 3 0 1         more comes, in the place of the first
//
// NORMS: sums are made of norms and products (patch_match_screen_norms.cl), else of differences.
//
// Each work-item has its reference's patch in local memory too: a plane of it goes through registers at a time. All of
// it in registers takes loops over planes that are unrolled, and so long a program waits for its instructions.
//
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DNORMS=1 -DPATCH=4 -DLANES=11 -DROWS=2 -DPLACES=16 -DSPARE=4 -DGROUP=128
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DNORMS=0 -DPATCH=4 -DLANES=8 -DROWS=2 -DPLACES=32 -DSPARE=4 -DGROUP=128
#define OWN_STRIDE GROUP
#include "ops/patch_match/patch_match_screen_list.cl"
#if NORMS
#include "ops/patch_match/patch_match_screen_norms.cl"
#define NORM_OPERANDS __global const float *norms, const ulong norms_first, const Match match
#else
#define NORM_OPERANDS const Match match
typedef int Own;  // nothing
#endif

#define ALONG_X 8

// Plane `number` of the region, which begins at `first`; zeros where the volume has no voxels. Items take the voxels one
// after the other, whichever row they are of, and four before they store one.
static inline void load_plane(const Match* match, const Screen* screen, __global const element* volume,
                              const long* first, const int number, __local float* region) {
  const int item = (int)get_local_id(0);
  const int width = screen->region[0];
  const int rows_on = small_quotient(GROUP, width);
  const int on = GROUP - rows_on * width;
  const long z = first[2] + number;
  const int is_plane = z >= 0 && z < match->size[2];
  __local float* const to = region + number % PATCH * screen->plane;
  int row = small_quotient(item, width);
  int x = item - row * width;
  while (row < screen->region[1]) {
    float voxels[4];
    int places[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int is_row = row < screen->region[1];
      const long y = first[1] + row;
      const long at = first[0] + x;
      const int is_there =
          is_plane && is_row && y >= 0 && y < match->size[1] && at >= 0 && at < match->size[0];
      voxels[i] = is_there ? (float)volume[(z * match->size[1] + y) * match->size[0] + at] : 0.0F;
      places[i] = is_row ? row * screen->row + x : -1;
      x += on;
      row += rows_on;
      if (x >= width) {
        x -= width;
        ++row;
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (places[i] >= 0) to[places[i]] = voxels[i];
    }
  }
}

// What a sum begins at, what of a reference's voxel it takes, and what two voxels add to it.
static inline float begin_of(const Own* own) {
#if NORMS
  return own->begin;
#else
  return 0;
#endif
}
static inline float own_voxel(const Own* own, const float voxel) {
#if NORMS
  return voxel - 0.125F * own->eight_means;
#else
  return voxel;
#endif
}
static inline float with_voxels(const float sum, const float here, const float there) {
#if NORMS
  return fma(here, there, sum);
#else
  const float apart = here - there;
  return fma(apart, apart, sum);
#endif
}

// The sums of so many rows of candidates, from plane z of the window on: `at` is the first one's place in a plane.
static inline void add_up(const Screen* screen, const Own* own, __local const float* patch,
                          __local const float* region, const int rows, const int z, const int at, float* sums) {
#pragma unroll
  for (int i = 0; i < rows * LANES; ++i) sums[i] = begin_of(own);
#pragma unroll 1
  for (int plane = 0; plane < PATCH; ++plane, patch += PATCH * PATCH * GROUP) {
    __local const float* const candidates = region + (z + plane) % PATCH * screen->plane + at;
    float mine[PATCH * PATCH];
#pragma unroll
    for (int i = 0; i < PATCH * PATCH; ++i) mine[i] = own_voxel(own, patch[i * GROUP]);
#pragma unroll
    for (int row = 0; row < PATCH + rows - 1; ++row) {
      float there[LANES + PATCH - 1];
#pragma unroll
      for (int i = 0; i < LANES + PATCH - 1; ++i) there[i] = candidates[row * screen->row + i];
#pragma unroll
      for (int of = 0; of < rows; ++of) {
        if (row < of || row - of >= PATCH) continue;
#pragma unroll
        for (int x = 0; x < PATCH; ++x) {
          const float here = mine[(row - of) * PATCH + x];
#pragma unroll
          for (int i = 0; i < LANES; ++i) {
            sums[of * LANES + i] = with_voxels(sums[of * LANES + i], here, there[i + x]);
          }
        }
      }
    }
  }
}

// Lists those of so many rows of LANES candidates that exist and are near enough; the first is (x, y, z) of the window.
// patch_match_screen.cl says why this stands there too.
static inline void list_rows(const Screen* screen, const Exists* exists, const int rows, const int x, const int y,
                             const int z, const float* sums, __local float* staged, uint* listed, float* bound) {
  const uint mask = screen->number_mask;
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

// Lists the nearest of so many rows of candidates. `at`: where the window would begin in a plane, were it whole;
// `norms`: and where in memory, from one row to the next so far.
static inline void look_at(const Screen* screen, const Exists* exists, const Own* own, __local const float* patch,
                           __local const float* region, __global const float2* norms, const long norm_row,
                           const int rows, const int y, const int z, const int at, __local float* staged,
                           uint* listed, float* bound) {
  const int end = exists->begin[0] + exists->count[0];
#pragma unroll 1
  for (int x = exists->begin[0] / LANES * LANES; x < end; x += LANES) {
    float sums[ROWS * LANES];
    add_up(screen, own, patch, region, rows, z, at + y * screen->row + x, sums);
#if NORMS
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      __global const float2* const from = norms + row * norm_row + x;
#pragma unroll
      for (int i = 0; i < LANES; ++i) sums[row * LANES + i] = sum_of(own, from[i], sums[row * LANES + i]);
    }
#endif
    list_rows(screen, exists, rows, x, y, z, sums, staged, listed, bound);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void patch_match_screen_planes(PATCH_MATCH_OPERANDS,
                                                                                           NORM_OPERANDS,
                                                                                           const Screen screen,
                                                                                           __local float* region) {
  __local float staged[LANES][GROUP];
  __local float patches[PATCH * PATCH * PATCH][GROUP];
  const int item = (int)get_local_id(0);
  long tile[3];
  find_tile(&screen, tile);
  long first[3];
  for (int axis = 0; axis < 3; ++axis) first[axis] = place_of(&match, axis, tile[axis]) - match.window[axis] / 2;
  // Items behind the last reference load voxels too, and have the last one's window.
  const long x = tile[0] + item % ALONG_X;
  const long y = tile[1] + item / ALONG_X;
  const int is_there = x < match.references[0] && y < match.references[1];
  const long number[3] = {min(x, match.references[0] - 1), min(y, match.references[1] - 1), tile[2]};
  const long reference = (number[2] * match.references[1] + number[1]) * match.references[0] + number[0];
  Window window;
  find_window(&match, reference, &window);
  Exists exists;
  find_exists(&match, &window, number, &exists);
  const int at = (int)(place_of(&match, 1, number[1]) - match.window[1] / 2 - first[1]) * screen.row +
                 (int)(place_of(&match, 0, number[0]) - match.window[0] / 2 - first[0]);

  volume += volume_first;
  __local float* const patch = &patches[0][item];
  float bound = screen.most;
  Own own;
#if NORMS
  // Where the window would begin, were it whole.
  const long norm_row = match.places[0];
  const long norm_plane = match.places[1] * norm_row;
  const long middle = match.window[2] / 2 * norm_plane + match.window[1] / 2 * norm_row + match.window[0] / 2;
  const long place = (place_of(&match, 2, number[2]) * match.places[1] + place_of(&match, 1, number[1])) * norm_row +
                     place_of(&match, 0, number[0]);
  __global const float2* const norms_there =
      (__global const float2*)(norms + norms_first) + NORMS_AROUND + place - middle;
  find_own(&match, &screen, volume + window.reference, norms_there[middle].y, GROUP, patch, &own);
  const int is_used = may_be_used(&own);
  if (bound >= 0) bound += apart_of(&screen, &own, bound);
#else
  const long norm_row = 0;
  const long norm_plane = 0;
  __global const float2* const norms_there = 0;
  const int is_used = 1;
  own = 0;
  for (int i = 0; i < PATCH * PATCH * PATCH; ++i) {
    const long row = i / (PATCH * PATCH) * match.size[1] + i / PATCH % PATCH;
    patch[i * GROUP] = (float)volume[window.reference + row * match.size[0] + i % PATCH];
  }
#endif
  uint listed[LISTED];
  clear_list(&match, listed);
  __local float* const mine = &staged[0][item];
  // All of a group have the same planes.
  const int first_plane = exists.begin[2];
  const int end_plane = first_plane + exists.count[2];
#pragma unroll 1
  for (int z = first_plane; z < first_plane + PATCH - 1; ++z) load_plane(&match, &screen, volume, first, z, region);
#pragma unroll 1
  for (int z = first_plane; z < end_plane; ++z) {
    load_plane(&match, &screen, volume, first, z + PATCH - 1, region);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int end = is_there && is_used ? exists.begin[1] + exists.count[1] : 0;
    int row = exists.begin[1];
#pragma unroll 1
    for (; row + ROWS <= end; row += ROWS) {
      look_at(&screen, &exists, &own, patch, region, norms_there + z * norm_plane + row * norm_row, norm_row, ROWS, row,
              z, at, mine, listed, &bound);
    }
#pragma unroll 1
    for (; row < end; ++row) {
      look_at(&screen, &exists, &own, patch, region, norms_there + z * norm_plane + row * norm_row, norm_row, 1, row,
              z, at, mine, listed, &bound);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (!is_there) return;
  if (!is_used) {
    counts[counts_first + reference] = -1;
    return;
  }
  patch_key keys[PLACES];
  Listed all;
  sort_listed(&match, &screen, &exists, patch, volume + window.reference, listed, keys, &all);
#if NORMS
  const float apart = apart_of(&screen, &own, all.last_kept);
#else
  const float apart = 0;
#endif
  const ulong stack = (ulong)(reference * match.max_patches);
  write_listed(&match, &screen, &window, keys, &all, apart, counts + counts_first + reference,
               distances + distances_first + stack, indices + indices_first + stack);
}
