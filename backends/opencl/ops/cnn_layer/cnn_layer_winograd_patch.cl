// cnn_layer, winograd: the transform of pixels in one direction, and the patches that it begins with. Options: those of
// cnn_layer_winograd_tiles.cl; INPUT_MATRIX, its numbers row by row; INPUT_PAIRS, in which bit i says that rows i and
// i + 1 differ in the sign of their odd columns: the half sums give both.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1 -DINPUT_MATRIX=1.0f -DINPUT_PAIRS=42
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128 -DINPUT_MATRIX=1.0 -DINPUT_PAIRS=2
#include "ops/cnn_layer/cnn_layer_winograd_tiles.cl"

// What is read at once, which both sizes of patches are multiples of.
#define RUN 2
#if FLOAT64
typedef double2 run;
#else
typedef float2 run;
#endif
#define STORE_RUN vstore2

__constant real input_matrix[POINTS][POINTS] = {INPUT_MATRIX};

// value[i] = sum over j of input_matrix[i][j] * value[j], with elements `step` apart.
static inline void transform_pixels(vector *value, const int step) {
  vector result[POINTS];
#pragma unroll
  for (int i = 0; i < POINTS; ++i) {
    if (i == 0 || (INPUT_PAIRS >> (i - 1) & 1) == 0) {
      vector even = (vector)(-(real)0);
      vector odd = (vector)(-(real)0);
#pragma unroll
      for (int j = 0; j < POINTS; j += 2) {
        even = with_multiple(even, input_matrix[i][j], value[j * step]);
        odd = with_multiple(odd, input_matrix[i][j + 1], value[(j + 1) * step]);
      }
      result[i] = even + odd;
      if ((INPUT_PAIRS >> i & 1) != 0) result[i + 1] = even - odd;
    }
  }
#pragma unroll
  for (int i = 0; i < POINTS; ++i) value[i * step] = result[i];
}

static inline void transform_patch(vector value[POINTS * POINTS]) {
#pragma unroll
  for (int x = 0; x < POINTS; ++x) transform_pixels(value + x, POINTS);
#pragma unroll
  for (int y = 0; y < POINTS; ++y) transform_pixels(value + y * POINTS, 1);
}

// Reads the patch of a tile into every WIDTH-th number from `to` on; 0 beyond the image. `first`: the channel's first pixel
// in this image. Where tiles lie inside of their image, processors have a loop without tests; others read vectors of 16
// bytes, if every row begins at a multiple of that.
static inline void read_patch(real *to, __global const real *first, const Place place, const Layer *layer) {
  const int y0 = place.y - (int)layer->padding;
  const int x0 = place.x - (int)layer->padding;
  const int height = (int)layer->height;
  const int width = (int)layer->width;
  const long step = layer->input_pixel;
  const long row_step = layer->width * step;
  __global const real *row = first + y0 * row_step + x0 * step;
  const int is_inside = x0 >= 0 && x0 + POINTS <= width;
#if WIDTH == 1
  if (is_inside && step == 1 && (((ulong)row | (ulong)row_step * sizeof(real)) & (sizeof(run) - 1)) == 0) {
#pragma unroll
    for (int y = 0; y < POINTS; ++y) {
      const int is_row = (uint)(y0 + y) < (uint)height;
#pragma unroll
      for (int x = 0; x < POINTS; ++x) to[y * POINTS + x] = 0;
      if (is_row) {
#pragma unroll
        for (int x = 0; x + RUN <= POINTS; x += RUN) {
          const run some = *(__global const run *)(row + x);
          STORE_RUN(some, 0, to + y * POINTS + x);
        }
      }
      row += row_step;
    }
    return;
  }
#else
  if (is_inside && y0 >= 0 && y0 + POINTS <= height) {
#pragma unroll
    for (int y = 0; y < POINTS; ++y) {
#pragma unroll
      for (int x = 0; x < POINTS; ++x) to[(y * POINTS + x) * WIDTH] = row[x * step];
      row += row_step;
    }
    return;
  }
#endif
#pragma unroll
  for (int y = 0; y < POINTS; ++y) {
    const int is_row = (uint)(y0 + y) < (uint)height;
#pragma unroll
    for (int x = 0; x < POINTS; ++x) {
      to[(y * POINTS + x) * WIDTH] = is_row && (uint)(x0 + x) < (uint)width ? row[x * step] : 0;
    }
    row += row_step;
  }
}
