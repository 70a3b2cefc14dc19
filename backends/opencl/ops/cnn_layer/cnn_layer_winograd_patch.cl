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

// A run of tiles beside each other is read by whole vectors: of four, every fourth number from the x-th on is pixel x of
// the tiles' rows, and that of pixel x + 4 is the same one tile further.
//
//   row        0 1 2 3 | 4 5 6 7 | 8 9 ...       pixel 0: 0 4 8 ...      pixel 4: 4 8 ... and one more
//
#if OUTPUTS == 4 && (WIDTH == 16 || WIDTH == 8)
#define HAS_RUNS 1
#if WIDTH == 16
#define PICK(lanes_of_16, lanes_of_8) (vector)(a.lanes_of_16, b.lanes_of_16, c.lanes_of_16, d.lanes_of_16)
#define NEXT_TILE(number, beyond) number.s123456789abcdeff; value[i + 4].sf = beyond
#else
#define PICK(lanes_of_16, lanes_of_8) (vector)(a.lanes_of_8, b.lanes_of_8, c.lanes_of_8, d.lanes_of_8)
#define NEXT_TILE(number, beyond) number.s12345677; value[i + 4].s7 = beyond
#endif

// Do they lie beside each other, with no pixel of theirs beyond the image, and pixels of a row one behind the other?
static inline int is_run(const Place first, const Place last, const Layer *layer) {
  const int y0 = first.y - (int)layer->padding;
  return first.image >= 0 && last.image == first.image && last.y == first.y && layer->input_pixel == 1 && y0 >= 0 &&
         y0 + POINTS <= layer->height && first.x >= layer->padding &&
         last.x - (int)layer->padding + POINTS <= layer->width;
}

static inline void read_run(vector value[POINTS * POINTS], __global const real *first, const Place place,
                            const Layer *layer) {
  __global const real *row = first + (place.y - layer->padding) * layer->width + place.x - layer->padding;
#pragma unroll
  for (int y = 0; y < POINTS; ++y) {
    const vector a = LOAD_VECTOR(0, row), b = LOAD_VECTOR(1, row), c = LOAD_VECTOR(2, row), d = LOAD_VECTOR(3, row);
    value[y * POINTS] = PICK(s048c, s04);
    value[y * POINTS + 1] = PICK(s159d, s15);
    value[y * POINTS + 2] = PICK(s26ae, s26);
    value[y * POINTS + 3] = PICK(s37bf, s37);
#pragma unroll
    for (int x = 4; x < POINTS; ++x) {
      const int i = y * POINTS + x - 4;
      value[i + 4] = NEXT_TILE(value[i], row[4 * WIDTH + x - 4]);
    }
    row += layer->width;
  }
}
#else
#define HAS_RUNS 0
#endif
