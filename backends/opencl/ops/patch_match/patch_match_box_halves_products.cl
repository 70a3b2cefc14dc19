// patch_match, box_sums of floats and 16 bits by NVIDIA's tensor cores: products of rounded voxels, and how far candidates
// may be that can be kept.
//
//   a plane    of 4 x 4 voxels of a candidate's patch is what one product of the tensor cores takes, of 16 references and
//              8 candidates. Walking along z, each plane is read once, and multiplied by the references' four: so four
//              candidates behind each other are on their way at a time, and no product waits for the one before.
//
// What is rounded is a patch, and not a distance: the distance of two rounded patches is off by two lengths that are 2^-11
// of a patch at most, and its sums of products are nearly exact. The limit, and why nothing that is kept lies beyond it,
// are those of CUDA's patch_match_box_halves_products.cuh, whose constants leave room for a root that is off by some
// 2^-22 of itself.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_halves_tile.cl"

#define BEYOND_ALL 1e30f

// A lane's two references, r = 0 and 1, which differ by 2 along z.
typedef struct {
  float most;        // length that the threshold keeps
  float squares[2];  // of their voxels
  uint4 own[4];      // planes of both
  int are_there[2];
  float limits[2];
  uint columns[2];  // that any is noted of
  int counts[2];    // of what is noted
} Walk;

ALWAYS_INLINE void begin_walk(const Match* match, const Tile* tile, const Unit* unit, const Scale* scale,
                              __local Shared* shared, Walk* walk) {
#if TYPE == 2
  const float largest = match->largest_float;
#else
  const float largest = (float)match->largest;
#endif
  walk->most = largest < 0 ? -1.0f : sqrt(largest) * scale->scale * (1 + 0x1p-15f);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int x = unit->x + along_x(unit->group);
    const int y = unit->y + along_y(unit->group);
    const int z = along_z(unit->group + 8 * r);
    walk->are_there[r] = is_reference(match, tile, x, y, z);
    const int from_x = WINDOW_X / 2 + x, from_y = WINDOW_Y / 2 + y, from_z = WINDOW_Z / 2 + z;
    walk->squares[r] = -2 * norms_of(shared)[from_z * NORM_PLANE + from_y * NORM_ROW + from_x];
    __local const uint* const words = words_of(shared) + from_z * PLANE;
    const int first = word_at(from_x, from_y + unit->t), second = word_at(from_x + 2, from_y + unit->t);
#pragma unroll
    for (int k = 0; k < SIDE; ++k) {
      if (r == 0) {
        walk->own[k].x = words[k * PLANE + first];
        walk->own[k].z = words[k * PLANE + second];
      } else {
        walk->own[k].y = words[k * PLANE + first];
        walk->own[k].w = words[k * PLANE + second];
      }
    }
  }
}

// Where a lane's words of its candidate lie, the first of a column along z.
typedef struct {
  __local const uint* first;
  __local const uint* second;
} Words;
ALWAYS_INLINE Words words_at(const Unit* unit, __local Shared* shared, const int first_x, const int first_y) {
  const int x = unit->x + first_x + unit->group % COLUMNS_X;
  const int y = unit->y + first_y + unit->group / COLUMNS_X + unit->t;
  Words words;
  words.first = words_of(shared) + word_at(x, y);
  words.second = words_of(shared) + word_at(x + 2, y);
  return words;
}

// One plane of a column: adds its products to the sums of the steps that it belongs to. With `plane` known when the
// program is compiled.
ALWAYS_INLINE void multiply_plane(const Walk* walk, const Words* words, const int plane, float sums[SIDE][4]) {
  uint2 pair;
  pair.x = words->first[plane * PLANE];
  pair.y = words->second[plane * PLANE];
#pragma unroll
  for (int k = SIDE - 1; k >= 0; --k) {
    const int step = plane - k;
    if (step >= 0 && step < STEPS) multiply_16x8(sums[step % SIDE], walk->own[k], pair);
  }
}

// Whatever may be kept has this sum or a larger one, where 16 have `last` or larger ones.
ALWAYS_INLINE float limit_of(const Walk* walk, const int r, const float last) {
  if (walk->most < 0) return BEYOND_ALL;
  const float squares = walk->squares[r];
  const float length = sqrt(squares);
  const float found = fmax(squares - 2 * last, 0.0f) + 0x1p-13f * squares;
  const float nearest = fmin(sqrt(found * (1 + 0x1p-12f)), walk->most);
  const float reach = nearest * (1 + 0x1p-15f) + 0x1.08p-10f * (2 * length + nearest) + 0x1p-14f;
  const float both = length + reach;
  return fmax(0.5f * (squares - reach * reach) - 0x1p-15f * both * both, -0x1p40f);
}
