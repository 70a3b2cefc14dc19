// conv2d, marching on a GPU: 32 work-items march down a strip of 128 columns together, all sums in registers. SIZE is
// the filter's, 3, 5 or 7; SEPARABLE is 1 where it is a column times a row.
//
//      128 columns, 4 a work-item            At each row of the image a work-item loads its 4 pixels as one vector. The
//     +----+----+----+--  --+----+           SIZE / 2 on either side are its neighbours': taken by the warp's shuffle
//     |  0 |  1 |  2 |  ..  | 31 |  image    where SHUFFLES is 1, which is NVIDIA's instruction, else loaded again, as
//     +----+----+----+--  --+----+  row      vectors too, from a cache. The row then goes into the sums of all SIZE
//       |    |                 |             output rows that it belongs to: SIZE x 4 sums in a window that rotates, so
//       v    v                 v             that a finished row's registers begin the next one. The rotation is
//     sums of SIZE output rows               unrolled: which sums a row goes to is known when it is compiled.
//
// A pixel is read once from device memory, but for the SIZE - 1 rows that runs share and the vectors beside a strip.
// Rows are loaded AHEAD rows before they are used, to have several loads in flight. Weights lie in constant memory and
// are read anew at each row: passed by value, NVIDIA's compiler keeps all 49 in registers.
//
// A row's address is the same for all work-items, so that it stands in registers that a warp shares. With an address
// for each work-item, separable 7 x 7 on 4096 x 4096 takes 49 us on an H200 in place of 46. More rows ahead are too
// much for the registers: 7 x 7 in float takes 69 us in place of 52.
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DSIZE=3 -DSEPARABLE=0 -DSHUFFLES=0 -DVECTORS=1
// Compiles alone with: -target nvptx64 -fgnu-keywords -DPIXEL=float -DIS_FLOAT=1 -DSIZE=7 -DSEPARABLE=1 -DSHUFFLES=1 -DVECTORS=0
#include "ops/conv2d/conv2d_images.cl"

#define CONCATENATED(a, b) a##b
#define VECTOR_OF(type, count) CONCATENATED(type, count)
typedef VECTOR_OF(PIXEL, 4) pixels_t;
#if IS_FLOAT
typedef float4 sums_t;
#else
typedef uint4 sums_t;
#endif
#define REACH (SIZE / 2)
#define PIXELS 4
#define LANES 32
#define AHEAD 3
#define ALWAYS_INLINE inline __attribute__((always_inline))

// A row of the image as a work-item loads it: its own pixels and those beside them. With shuffles, only the first lane
// needs the ones to its left, and the last lane those to its right.
typedef struct {
  pixels_t own;
#if SHUFFLES
  pixels_t beside;
#else
  pixels_t left;
  pixels_t right;
#endif
} Row;

// What a work-item loads from: its own place in a row and those beside it, and which pixels of each lie in the image.
// The row's address is the same for all work-items, and stands in registers that a warp shares.
typedef struct {
  __global const PIXEL *row;
  int own;
  int beside;
  uint own_inside;
  uint left_inside;
  uint right_inside;
  int first_row;
  int last_row;
} Source;

// Which of the pixels from x on lie in a row: one bit each. Where vectors are loaded (VECTORS is 1: rows of image and
// output, and the shift between them, are aligned to PIXELS) it is all or none.
ALWAYS_INLINE uint inside(const long x, const long width) {
  uint bits = 0;
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) bits |= x + i >= 0 && x + i < width ? 1u << i : 0u;
  return bits;
}

ALWAYS_INLINE pixels_t load_pixels(__global const PIXEL *pixels, const bool in_image, const uint inside) {
  pixels_t loaded = (pixels_t)(0);
#if VECTORS
  if (in_image && inside != 0) loaded = *(__global const pixels_t *)pixels;
#else
  if (in_image && (inside & 1) != 0) loaded.x = pixels[0];
  if (in_image && (inside & 2) != 0) loaded.y = pixels[1];
  if (in_image && (inside & 4) != 0) loaded.z = pixels[2];
  if (in_image && (inside & 8) != 0) loaded.w = pixels[3];
#endif
  return loaded;
}

// Rows are loaded in order, each once: `index` counts them from the first that the sums need.
ALWAYS_INLINE Row load_row(Source *source, const int index, const long width) {
  const bool in_image = index >= source->first_row && index < source->last_row;
  __global const PIXEL *const own = source->row + source->own;
  Row row;
  row.own = load_pixels(own, in_image, source->own_inside);
#if SHUFFLES
  row.beside = load_pixels(source->row + source->beside, in_image, source->left_inside);
#else
  row.left = load_pixels(own - PIXELS, in_image, source->left_inside);
  row.right = load_pixels(own + PIXELS, in_image, source->right_inside);
#endif
  source->row += width;
  return row;
}

#if SHUFFLES
#if IS_FLOAT
#define BITS(number) as_uint(number)
#define NUMBER_OF_BITS(bits) as_float(bits)
#else
#define BITS(number) (number)
#define NUMBER_OF_BITS(bits) (bits)
#endif
ALWAYS_INLINE sum_t from_left(const sum_t number) {
  uint bits;
  asm volatile("shfl.sync.up.b32 %0, %1, 1, 0, 0xffffffff;" : "=r"(bits) : "r"(BITS(number)));
  return NUMBER_OF_BITS(bits);
}
ALWAYS_INLINE sum_t from_right(const sum_t number) {
  uint bits;
  asm volatile("shfl.sync.down.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(bits) : "r"(BITS(number)));
  return NUMBER_OF_BITS(bits);
}
#endif

// The row as numbers: numbers[REACH + i] is pixel i of this work-item's.
ALWAYS_INLINE void spread(const Row row, const int lane, sum_t *numbers) {
  const sum_t own[PIXELS] = {NUMBER(row.own.x), NUMBER(row.own.y), NUMBER(row.own.z), NUMBER(row.own.w)};
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) numbers[REACH + i] = own[i];
#if SHUFFLES
  const sum_t beside[PIXELS] = {NUMBER(row.beside.x), NUMBER(row.beside.y), NUMBER(row.beside.z),
                                NUMBER(row.beside.w)};
#pragma unroll
  for (int i = 0; i < REACH; ++i) {
    const sum_t left = from_left(own[PIXELS - REACH + i]);
    const sum_t right = from_right(own[i]);
    numbers[i] = lane == 0 ? beside[PIXELS - REACH + i] : left;
    numbers[REACH + PIXELS + i] = lane == LANES - 1 ? beside[i] : right;
  }
#else
  const sum_t left[PIXELS] = {NUMBER(row.left.x), NUMBER(row.left.y), NUMBER(row.left.z), NUMBER(row.left.w)};
  const sum_t right[PIXELS] = {NUMBER(row.right.x), NUMBER(row.right.y), NUMBER(row.right.z), NUMBER(row.right.w)};
#pragma unroll
  for (int i = 0; i < REACH; ++i) {
    numbers[i] = left[PIXELS - REACH + i];
    numbers[REACH + PIXELS + i] = right[i];
  }
#endif
}

// Adds a row of the image to the sums: row k of the filter goes to the output row whose sum began k rows ago.
ALWAYS_INLINE void add_row(sum_t (*sums)[PIXELS], const int phase, const sum_t *numbers,
                           __constant const sum_t *weights) {
#if SEPARABLE
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    sum_t sum = 0;
#pragma unroll
    for (int j = 0; j < SIZE; ++j) sum = MULTIPLY_ADD(weights[SIZE + j], numbers[i + j], sum);
#pragma unroll
    for (int k = 0; k < SIZE; ++k) {
      const int target = (phase + SIZE - k) % SIZE;
      sums[target][i] = MULTIPLY_ADD(weights[k], sum, sums[target][i]);
    }
  }
#else
#pragma unroll
  for (int k = 0; k < SIZE; ++k) {
    const int target = (phase + SIZE - k) % SIZE;
#pragma unroll
    for (int j = 0; j < SIZE; ++j) {
#pragma unroll
      for (int i = 0; i < PIXELS; ++i) {
        sums[target][i] = MULTIPLY_ADD(weights[k * SIZE + j], numbers[i + j], sums[target][i]);
      }
    }
  }
#endif
}

ALWAYS_INLINE void store_sums(__global sum_t *output, const sum_t *sums, const uint inside) {
#if VECTORS
  if (inside != 0) *(__global sums_t *)output = (sums_t)(sums[0], sums[1], sums[2], sums[3]);
#else
#pragma unroll
  for (int i = 0; i < PIXELS; ++i) {
    if ((inside >> i & 1) != 0) output[i] = sums[i];
  }
#endif
}

// The image of the output is shifted against that of the sums where the problem's anchor is not the filter's centre.
__attribute__((reqd_work_group_size(LANES, 1, 1))) __kernel void conv2d_marching_lanes(
    CONV2D_PARAMETERS, __constant const sum_t *weights) {
  const int shift_y = REACH - conv2d.anchor_y;
  const int shift_x = REACH - conv2d.anchor_x;
  const int lane = (int)get_local_id(0);
  const Place place = place_of_group((long)get_group_id(0), LANES * PIXELS, conv2d.block_rows, conv2d.output_width,
                                     conv2d.output_height);
  const long output_x = place.column + lane * PIXELS;
  const long x = output_x + shift_x;
  const int rows = (int)min(conv2d.block_rows, conv2d.output_height - place.row);
  const int count = rows + 2 * REACH;
  const long top = place.row + shift_y - REACH;
  const int beside = lane == 0 ? -PIXELS : PIXELS;
  Source source;
  source.row = image + image_first + (place.image * conv2d.height + top) * conv2d.width + place.column + shift_x;
  source.own = lane * PIXELS;
  source.beside = source.own + beside;
  source.own_inside = inside(x, conv2d.width);
#if SHUFFLES
  source.left_inside = lane == 0 || lane == LANES - 1 ? inside(x + beside, conv2d.width) : 0;
#else
  source.left_inside = inside(x - PIXELS, conv2d.width);
  source.right_inside = inside(x + PIXELS, conv2d.width);
#endif
  source.first_row = (int)clamp(-top, 0l, (long)count);
  source.last_row = (int)clamp(conv2d.height - top, 0l, (long)count);
  __global sum_t *target = output + output_first +
                           (place.image * conv2d.output_height + place.row) * conv2d.output_width + output_x;
  const uint stored = inside(output_x, conv2d.output_width);

  sum_t sums[SIZE][PIXELS];
#pragma unroll
  for (int k = 0; k < SIZE; ++k) {
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) sums[k][i] = 0;
  }
  Row ahead[AHEAD];
#pragma unroll
  for (int i = 0; i < AHEAD; ++i) ahead[i] = load_row(&source, i, conv2d.width);
  // Before the first row's sum is whole, what falls out of the window belongs to no row.
  for (int first = 0; first < count; first += SIZE) {
#pragma unroll
    for (int phase = 0; phase < SIZE; ++phase) {
      const Row row = ahead[0];
#pragma unroll
      for (int i = 0; i + 1 < AHEAD; ++i) ahead[i] = ahead[i + 1];
      ahead[AHEAD - 1] = load_row(&source, first + phase + AHEAD, conv2d.width);
      sum_t numbers[PIXELS + 2 * REACH];
      spread(row, lane, numbers);
      add_row(sums, phase, numbers, weights);
      const int finished = first + phase - 2 * REACH;
      const int oldest = (phase + 1) % SIZE;
      if (finished >= 0 && finished < rows) {
        store_sums(target, sums[oldest], stored);
        target += conv2d.output_width;
      }
#pragma unroll
      for (int i = 0; i < PIXELS; ++i) sums[oldest][i] = 0;
    }
  }
}
