// conv2d, marching on a processor: a work-item alone computes bands of ROWS rows, tile after tile from left to right.
// SIZE is the filter's, 3, 5 or 7; SEPARABLE is 1 where it is a column times a row; EXACT_INTEGERS is 1 where pixels
// are integers whose sums are exact in float: IS_FLOAT is 1 too then, and the output's int is written through its bits.
//
//      STRIP columns a work-group                 A tile is ROWS rows x 2 vectors of sums, which stay in registers
//     +------+------+------+--  --+               while the rows of the image that it needs pass by from top to bottom.
//     | tile | tile | tile |      |  band,        Of each row three vectors are loaded, which hold the tile's pixels and
//     |  ->  |  ->  |  ->  |  ..  |  ROWS rows    those beside them; what lies under column j of the filter is made of
//     +------+------+------+--  --+               them by one instruction that shifts two vectors together. It goes to
//     |      |      |      |      |  next band    the sums of all output rows that this row of the image belongs to:
//     +------+------+------+--  --+               which these are is known when it is compiled.
//
// Only the last band computes rows that are not stored. A window of sums that rotates down a strip does so in every
// run: with 7 x 7 a run of 16 rows costs the products of 22. A pixel is loaded (ROWS + SIZE - 1) / ROWS times, next to
// the pixels of the tile before, so that pages and cache lines are used whole. One load for each column of the filter
// instead would cross a cache line nearly every time. A weight is broadcast from memory once for two products. Pixels
// over the left and right edge of the image go through private memory; rows outside of the image are left out.
//
// 8 rows x 2 vectors of 16 numbers take 16 of AVX-512's 32 registers and leave room for the shifted vectors. With 16
// registers of 8 numbers it is 4 rows. Vectors are shifted as integers, for which PoCL's compiler finds the one
// instruction. For floats it takes six registers of indices, which made 7 x 7 a fifth slower.
//
// On PoCL 3.1 and 2 cores of an Intel Xeon with AVX-512 this reaches 0.7 to 1.2 of the speed of the backend cpu_tbb,
// and the window down strips (conv2d_marching.cl) 0.4 to 0.7.
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DSIZE=3 -DCOLUMNS=16 -DSEPARABLE=0 -DROWS=8 -DSTRIP=1024 -DEXACT_INTEGERS=0
// Compiles alone with: -DPIXEL=uchar -DIS_FLOAT=1 -DSIZE=3 -DCOLUMNS=16 -DSEPARABLE=1 -DROWS=8 -DSTRIP=1024 -DEXACT_INTEGERS=1
#include "ops/conv2d/conv2d_vectors.cl"

typedef VECTOR_OF(uint, COLUMNS) bits_t;
#if IS_FLOAT
#define BITS(numbers) VECTOR_OF(as_uint, COLUMNS)(numbers)
#define NUMBERS_OF_BITS(bits) VECTOR_OF(as_float, COLUMNS)(bits)
#else
#define BITS(numbers) (numbers)
#define NUMBERS_OF_BITS(bits) (bits)
#endif
#if EXACT_INTEGERS
#define LOAD_BITS(place, pixels) BITS(VECTOR_OF(convert_float, COLUMNS)(LOAD_OF(COLUMNS)(place, pixels)))
#define RESULTS(sums) VECTOR_OF(as_float, COLUMNS)(VECTOR_OF(convert_int, COLUMNS)(sums))
#elif IS_FLOAT
#define LOAD_BITS(place, pixels) LOAD_OF(COLUMNS)(place, (__global const uint *)(pixels))
#define RESULTS(sums) (sums)
#else
#define LOAD_BITS(place, pixels) NUMBERS(LOAD_OF(COLUMNS)(place, pixels))
#define RESULTS(sums) (sums)
#endif
#define TILE (2 * COLUMNS)
#define SPAN (3 * COLUMNS)
#define ALWAYS_INLINE inline __attribute__((always_inline))

// Pixels from the first column under the filter on: three vectors of one row of the image.
typedef struct {
  bits_t left;
  bits_t middle;
  bits_t right;
} Span;

// Lanes `by` and on of `a`, then the first of `b`. `by` is known when it is compiled.
ALWAYS_INLINE bits_t shifted(const bits_t a, const bits_t b, const int by) {
  switch (by) {
#if COLUMNS == 16
    case 0: return a;
    case 1: return (bits_t)(a.s12345678, a.s9abc, a.sde, a.sf, b.s0);
    case 2: return (bits_t)(a.s23456789, a.sabcd, a.sef, b.s01);
    case 3: return (bits_t)(a.s3456789a, a.sbcde, a.sf, b.s0, b.s12);
    case 4: return (bits_t)(a.s456789ab, a.scdef, b.s0123);
    case 5: return (bits_t)(a.s56789abc, a.sde, a.sf, b.s0, b.s1234);
    default: return (bits_t)(a.s6789abcd, a.sef, b.s01, b.s2345);
#else
    case 0: return a;
    case 1: return (bits_t)(a.s1234, a.s56, a.s7, b.s0);
    case 2: return (bits_t)(a.s2345, a.s67, b.s01);
    case 3: return (bits_t)(a.s3456, a.s7, b.s0, b.s12);
    case 4: return (bits_t)(a.s4567, b.s0123);
    case 5: return (bits_t)(a.s56, a.s7, b.s0, b.s1234);
    default: return (bits_t)(a.s67, b.s01, b.s2345);
#endif
  }
}

// Pixels x to x + SPAN - 1 of a row as numbers, those outside of it 0. Not inlined: it stands at each row of a tile.
__attribute__((noinline)) void copy_over_edge(sum_t *numbers, __global const PIXEL *row, const long x,
                                              const long width) {
  const int first = (int)clamp(-x, 0l, (long)SPAN);
  const int last = (int)clamp(width - x, 0l, (long)SPAN);
  for (int i = 0; i < SPAN; ++i) numbers[i] = 0;
  for (int i = first; i < last; ++i) numbers[i] = NUMBER(row[x + i]);
}

ALWAYS_INLINE Span load_span(__global const PIXEL *row, const long x, const long width, const bool is_inside) {
  Span span;
  if (is_inside) {
    span.left = LOAD_BITS(0, row + x);
    span.middle = LOAD_BITS(1, row + x);
    span.right = LOAD_BITS(2, row + x);
  } else {
    sum_t numbers[SPAN];
    copy_over_edge(numbers, row, x, width);
    span.left = BITS(LOAD_OF(COLUMNS)(0, numbers));
    span.middle = BITS(LOAD_OF(COLUMNS)(1, numbers));
    span.right = BITS(LOAD_OF(COLUMNS)(2, numbers));
  }
  return span;
}

// Adds source row `row` of a tile to the sums: output row k takes it with row (row - k) of the filter.
ALWAYS_INLINE void add_row(vector_t (*sums)[2], const int row, const Span span, const Weights *filter) {
#if SEPARABLE
  vector_t left_sum = 0;
  vector_t right_sum = 0;
#endif
#pragma unroll
  for (int j = 0; j < SIZE; ++j) {
    const vector_t left = NUMBERS_OF_BITS(shifted(span.left, span.middle, j));
    const vector_t right = NUMBERS_OF_BITS(shifted(span.middle, span.right, j));
#if SEPARABLE
    left_sum = MULTIPLY_ADD((vector_t)(filter->weights[SIZE + j]), left, left_sum);
    right_sum = MULTIPLY_ADD((vector_t)(filter->weights[SIZE + j]), right, right_sum);
#else
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
      if (row - k < 0 || row - k >= SIZE) continue;
      const vector_t weight = (vector_t)(filter->weights[(row - k) * SIZE + j]);
      sums[k][0] = MULTIPLY_ADD(weight, left, sums[k][0]);
      sums[k][1] = MULTIPLY_ADD(weight, right, sums[k][1]);
    }
#endif
  }
#if SEPARABLE
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    if (row - k < 0 || row - k >= SIZE) continue;
    const vector_t weight = (vector_t)(filter->weights[row - k]);
    sums[k][0] = MULTIPLY_ADD(weight, left_sum, sums[k][0]);
    sums[k][1] = MULTIPLY_ADD(weight, right_sum, sums[k][1]);
  }
#endif
}

// The first `count` pixels of a tile's row.
ALWAYS_INLINE void store_row(__global sum_t *target, const vector_t *sums, const long count) {
  if (count >= TILE) {
    STORE_OF(COLUMNS)(RESULTS(sums[0]), 0, target);
    STORE_OF(COLUMNS)(RESULTS(sums[1]), 1, target);
  } else {
    sum_t numbers[TILE];
    STORE_OF(COLUMNS)(RESULTS(sums[0]), 0, numbers);
    STORE_OF(COLUMNS)(RESULTS(sums[1]), 1, numbers);
    for (int i = 0; i < count; ++i) target[i] = numbers[i];
  }
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void conv2d_marching_bands(CONV2D_PARAMETERS,
                                                                                   const Weights filter) {
  const Place place = place_of_group((long)get_group_id(0), STRIP, conv2d.block_rows, conv2d.output_width,
                                     conv2d.output_height);
  const long end_row = min(place.row + conv2d.block_rows, conv2d.output_height);
  const long end_column = min(place.column + STRIP, conv2d.output_width);
  image += image_first + place.image * conv2d.height * conv2d.width;
  output += output_first + place.image * conv2d.output_height * conv2d.output_width;
  for (long band = place.row; band < end_row; band += ROWS) {
    const long top = band - conv2d.anchor_y;
    for (long column = place.column; column < end_column; column += TILE) {
      const long x = column - conv2d.anchor_x;
      const bool is_inside = x >= 0 && x + SPAN <= conv2d.width;
      vector_t sums[ROWS][2];
#pragma unroll
      for (int k = 0; k < ROWS; ++k) sums[k][0] = sums[k][1] = 0;
#pragma unroll
      for (int row = 0; row < ROWS + SIZE - 1; ++row) {
        const long y = top + row;
        if (y >= 0 && y < conv2d.height) {
          add_row(sums, row, load_span(image + y * conv2d.width, x, conv2d.width, is_inside), &filter);
        }
      }
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        if (band + k < end_row) {
          store_row(output + (band + k) * conv2d.output_width + column, sums[k], end_column - column);
        }
      }
    }
  }
}
