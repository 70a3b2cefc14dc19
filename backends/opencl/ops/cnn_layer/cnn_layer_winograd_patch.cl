// cnn_layer, winograd: the transform of pixels in one direction, and the patches that it begins with. Options: those of
// cnn_layer_winograd_tiles.cl; INPUT_MATRIX, its numbers row by row; INPUT_PAIRS, in which bit i says that rows i and
// i + 1 differ in the sign of their odd columns: the half sums give both.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1 -DINPUT_MATRIX=1.0f -DINPUT_PAIRS=42
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128 -DINPUT_MATRIX=1.0 -DINPUT_PAIRS=2
#include "ops/cnn_layer/cnn_layer_winograd_tiles.cl"

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

// Reads the patch of a tile into every WIDTH-th number from `to` on; 0 beyond the image, and where there is no tile.
// `first`: the channel's first pixel in this image.
static inline void read_patch(real *to, __global const real *first, const Place place, const Layer *layer) {
  const long y0 = place.y - layer->padding;
  const long x0 = place.x - layer->padding;
  const long step = layer->input_pixel;
  const int is_inside = place.image >= 0 && y0 >= 0 && x0 >= 0 && y0 + POINTS <= layer->height && x0 + POINTS <= layer->width;
  if (is_inside) {
    __global const real *row = first + (y0 * layer->width + x0) * step;
#if WIDTH == 1 && !FLOAT64
    const long skewed = (long)((ulong)row & 15) | (layer->width & 3) | (step - 1);
    if (skewed == 0) {
#pragma unroll
      for (int y = 0; y < POINTS; ++y) {
#pragma unroll
        for (int x = 0; x + 4 <= POINTS; x += 4) vstore4(*(__global const float4 *)(row + x), 0, to + y * POINTS + x);
#pragma unroll
        for (int x = POINTS / 4 * 4; x < POINTS; ++x) to[y * POINTS + x] = row[x];
        row += layer->width;
      }
      return;
    }
#endif
#pragma unroll
    for (int y = 0; y < POINTS; ++y) {
#pragma unroll
      for (int x = 0; x < POINTS; ++x) to[(y * POINTS + x) * WIDTH] = row[x * step];
      row += layer->width * step;
    }
  } else {
#pragma unroll
    for (int y = 0; y < POINTS; ++y) {
      const int is_row = place.image >= 0 && y0 + y >= 0 && y0 + y < layer->height;
#pragma unroll
      for (int x = 0; x < POINTS; ++x) {
        const int is_pixel = is_row && x0 + x >= 0 && x0 + x < layer->width;
        to[(y * POINTS + x) * WIDTH] = is_pixel ? first[((y0 + y) * layer->width + x0 + x) * step] : 0;
      }
    }
  }
}
