// cnn_layer, winograd: which tiles are computed without the transforms, because pixels beside a window could spoil its
// sum (cnn_layer_winograd_limit() in mathematics/cnn_layer_winograd.h). Options: those of cnn_layer_winograd_tiles.cl;
// GROWTH_MATRIX, its numbers row by row; SLICES, parts that a pixel's channels are summed in.
//
//   input, C channels      magnitudes             in doubt
//   +-----------+          +-----------+  n x n   one byte for each tile of the pass; with it a power of two, which
//   |           |+  sum    |  +---+    |  sums    brings transformed pixels below 2^14, and may serve who multiplies
//   |           ||  ---->  |  |   |    |  ---->
//   +-----------+| of |x|  +--+---+----+ of a tile
//    +-----------+
//
// First launch: a work-item adds up every SLICES-th channel of WIDTH pixels beside each other; a group takes ITEMS / SLICES
// such runs. Second one: one work-item, one tile, whose patch it reads once for each of its rows.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1 -DGROWTH_MATRIX=1.0f -DSLICES=1
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128 -DGROWTH_MATRIX=1.0 -DSLICES=8
#include "ops/cnn_layer/cnn_layer_winograd_tiles.cl"

#define RUNS (ITEMS / SLICES)

// Magnitudes of one channel, `there` of which exist.
static inline vector magnitudes_of(__global const real *from, const long pixel_step, const int there) {
#if WIDTH == 1
  return there > 0 ? fabs(*from) : 0;
#else
  if (pixel_step == 1 && there >= WIDTH) return fabs(LOAD_VECTOR(0, from));
  real some[WIDTH];
  for (int i = 0; i < WIDTH; ++i) some[i] = i < there ? from[i * pixel_step] : 0;
  return fabs(LOAD_VECTOR(0, some));
#endif
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void cnn_layer_winograd_magnitudes(
    __global const real *restrict input, const ulong input_first, __global real *restrict magnitudes,
    const ulong magnitudes_first, const Layer layer, const Winograd winograd, const long chunk_number) {
  const int item = (int)get_local_id(0);
  const long pixels = layer.height * layer.width;
  const long runs_of_image = quotient(pixels + WIDTH - 1, WIDTH);
  const long run = (long)get_group_id(0) * RUNS + item % RUNS;
  const long in_pass = quotient(run, runs_of_image);
  const long image = first_image_of_pass(chunk_number, &winograd) + in_pass;
  const long pixel = (run - in_pass * runs_of_image) * WIDTH;
  const int there = in_pass < winograd.images && image < layer.batch ? (int)min((long)WIDTH, pixels - pixel) : 0;
  vector sum = (vector)(0);
  if (there > 0) {
    input += input_first + image * layer.input_image + pixel * layer.input_pixel;
#pragma unroll 8
    for (long channel = item / RUNS; channel < layer.input_channels; channel += SLICES) {
      sum += magnitudes_of(input + channel * layer.input_channel, layer.input_pixel, there);
    }
  }
#if SLICES > 1
  __local real parts[SLICES][RUNS];
  parts[item / RUNS][item % RUNS] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item >= RUNS) return;
  sum = 0;
  for (int slice = 0; slice < SLICES; ++slice) sum += parts[slice][item];
#endif
  if (there <= 0) return;
  magnitudes += magnitudes_first + in_pass * pixels + pixel;
  if (there == WIDTH) {
    STORE_VECTOR(sum, 0, magnitudes);
  } else {
    real some[WIDTH];
    STORE_VECTOR(sum, 0, some);
    for (int i = 0; i < there; ++i) magnitudes[i] = some[i];
  }
}

__constant real growth_matrix[OUTPUTS][POINTS] = {GROWTH_MATRIX};

#if FLOAT64
#define LARGEST_REAL 1.7976931348623157e308
#else
#define LARGEST_REAL 3.402823466e38f
#endif

__kernel void cnn_layer_winograd_doubts(__global const real *restrict magnitudes, const ulong magnitudes_first,
                                        __global uchar *restrict doubts, const ulong doubts_first,
                                        __global int *restrict shifts, const ulong shifts_first, const Layer layer,
                                        const Winograd winograd, const long chunk_number) {
  const int tile = (int)get_global_id(0);
  const int first_image = first_image_of_pass(chunk_number, &winograd);
  const Place place = place_of_tile(tile, first_image, &layer, &winograd);
  if (tile >= winograd.chunk * winograd.chunks) return;
  if (place.image < 0) {
    doubts[doubts_first + tile] = 0;
    shifts[shifts_first + tile] = 0;
    return;
  }
  magnitudes += magnitudes_first + (place.image - first_image) * layer.height * layer.width;
  const int y0 = place.y - (int)layer.padding;
  const int x0 = place.x - (int)layer.padding;
  // Only sums that are there count: beyond them the window of a tile at the edge may hold nothing.
  const int sums_of_target = winograd.pooled ? 2 : 1;
  const int rows = min(OUTPUTS, sums_of_target * (int)winograd.target_height - place.y);
  const int columns = min(OUTPUTS, sums_of_target * (int)winograd.target_width - place.x);
  int is_sure = 1;
  real most = 0;
  for (int o = 0; o < rows; ++o) {
    real felt[POINTS];  // by this row of outputs, of each column of pixels
    real own[POINTS];   // the part of it that lies in the row's own windows
    for (int x = 0; x < POINTS; ++x) {
      const int is_column = x0 + x >= 0 && x0 + x < layer.width;
      real all = 0;
      real inside = 0;
#pragma unroll
      for (int y = 0; y < POINTS; ++y) {
        const int is_pixel = is_column && y0 + y >= 0 && y0 + y < layer.height;
        const real value = is_pixel ? magnitudes[(y0 + y) * layer.width + x0 + x] : 0;
        all += growth_matrix[o][y] * value;
        if (y >= o && y < o + FILTER) inside += value;
        most = fmax(most, value);  // a NaN does not count: its tile is in doubt
      }
      felt[x] = all;
      own[x] = inside;
    }
    // In the first row all of the patch was seen, so that `most` is the largest of it.
    for (int p = 0; p < columns; ++p) {
      real all = winograd.doubt_of_largest * most;
      real inside = 0;
#pragma unroll
      for (int x = 0; x < POINTS; ++x) {
        all += growth_matrix[p][x] * felt[x];
        if (x >= p && x < p + FILTER) inside += own[x];
      }
      // Neither a NaN nor an infinity passes this comparison.
      if (!(all <= fmin(winograd.limit * inside, LARGEST_REAL))) is_sure = 0;
    }
  }
  doubts[doubts_first + tile] = is_sure ? 0 : 1;
  int shift = 0;
#if !FLOAT64
  // most < 2^(its exponent + 1). Infinite ones are in doubt.
  if (most > 0 && most <= LARGEST_REAL) shift = 13 - ilogb(most) - winograd.growth_power;
#endif
  shifts[shifts_first + tile] = shift;
}
