// cnn_layer, winograd: is a row of a tile's outputs in doubt, so that the tile is computed without the transforms, because
// pixels beside a window could spoil its sum (cnn_layer_winograd_limit() in mathematics/cnn_layer_winograd.h)? Options:
// those of cnn_layer_winograd_tiles.cl; GROWTH_MATRIX, its numbers row by row.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1 -DGROWTH_MATRIX=1.0f
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128 -DGROWTH_MATRIX=1.0
#include "ops/cnn_layer/cnn_layer_winograd_tiles.cl"

__constant real growth_matrix[OUTPUTS][POINTS] = {GROWTH_MATRIX};

#if FLOAT64
#define LARGEST_REAL 1.7976931348623157e308
#else
#define LARGEST_REAL 3.402823466e38f
#endif

// Row o of the outputs of the tile at `place`, in the image whose pixels' magnitudes are `plane`. Leaves in `most` the
// largest of the tile's patch.
static inline int is_row_in_doubt(const int o, __global const real *plane, const Place place, const Layer *layer,
                                  const Winograd *winograd, real *most) {
  const int y0 = place.y - (int)layer->padding;
  const int x0 = place.x - (int)layer->padding;
  const int width = (int)layer->width;
  real largest = 0;
  real felt[POINTS];  // by this row of outputs, of each column of pixels
  real own[POINTS];   // the part of it that lies in the row's own windows
  for (int x = 0; x < POINTS; ++x) {
    const int is_column = x0 + x >= 0 && x0 + x < width;
    real all = 0;
    real inside = 0;
#pragma unroll
    for (int y = 0; y < POINTS; ++y) {
      const int is_pixel = is_column && y0 + y >= 0 && y0 + y < layer->height;
      const real value = is_pixel ? plane[(y0 + y) * width + x0 + x] : 0;
      all += growth_matrix[o][y] * value;
      if (y >= o && y < o + FILTER) inside += value;
      largest = fmax(largest, value);  // a NaN does not count: its tile is in doubt
    }
    felt[x] = all;
    own[x] = inside;
  }
  *most = largest;
  // Only sums that are there count: beyond them the window of a tile at the edge may hold nothing.
  const int sums_of_target = winograd->pooled ? 2 : 1;
  if (place.y + o >= sums_of_target * (int)winograd->target_height) return 0;
  const int columns = min(OUTPUTS, sums_of_target * (int)winograd->target_width - place.x);
  int is_in_doubt = 0;
  for (int p = 0; p < columns; ++p) {
    real all = winograd->doubt_of_largest * largest;
    real inside = 0;
#pragma unroll
    for (int x = 0; x < POINTS; ++x) {
      all += growth_matrix[p][x] * felt[x];
      if (x >= p && x < p + FILTER) inside += own[x];
    }
    // Neither a NaN nor an infinity passes this comparison.
    if (!(all <= fmin(winograd->limit * inside, LARGEST_REAL))) is_in_doubt = 1;
  }
  return is_in_doubt;
}

// The power of two that brings a tile's transformed pixels below 2^14: most < 2^(its exponent + 1). Infinite ones are in
// doubt.
static inline int shift_of_largest(const real most, const Winograd *winograd) {
#if !FLOAT64
  if (most > 0 && most <= LARGEST_REAL) return 13 - ilogb(most) - winograd->growth_power;
#endif
  return 0;
}
