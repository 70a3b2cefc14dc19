// conv2d, marching: a work-item marches down a strip of COLUMNS pixels with all sums in registers. SIZE is the filter's,
// 3, 5 or 7; SEPARABLE is 1 where it is a column times a row.
//
//      COLUMNS pixels a work-item            At each row of the image a work-item loads its pixels and the SIZE / 2 on
//     +------+------+------+------+          either side, which its neighbours load too, so that they come from a cache.
//     | item | item | item | item |  image   The row then goes into the vectors of sums of all SIZE output rows that it
//     +------+------+------+------+  row     belongs to. That window rotates: a finished row's registers begin the next
//        v                           |       one. The rotation is unrolled, so which sums a row goes to is known when it
//     sums of SIZE output rows       v       is compiled. Weights come by value, in constant memory.
//
// Products: SIZE * SIZE for a pixel, or 2 * SIZE where the filter is separable: then the sum along the row goes into the
// SIZE sums. A GPU takes 4 pixels, a vector load; a CPU as many as its vector registers hold. A row outside of the image
// adds nothing; beside the left and the right edge pixels are loaded one by one. On processors this is the slower march:
// see conv2d_marching_bands.cl.
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DSIZE=3 -DCOLUMNS=16 -DSEPARABLE=0
// Compiles alone with: -DPIXEL=float -DIS_FLOAT=1 -DSIZE=3 -DCOLUMNS=16 -DSEPARABLE=1
#include "ops/conv2d/conv2d_vectors.cl"

// The pixels that a row's taps take: taps[j] holds those under column j of the filter.
inline void load_taps(vector_t *taps, __global const PIXEL *restrict row, const long x, const long width) {
  if (x >= REACH && x + COLUMNS + REACH <= width) {
#pragma unroll
    for (int j = 0; j < SIZE; ++j) taps[j] = NUMBERS(LOAD_OF(COLUMNS)(0, row + x + j - REACH));
  } else {
#pragma unroll
    for (int j = 0; j < SIZE; ++j) {
      sum_t numbers[COLUMNS];
      for (int i = 0; i < COLUMNS; ++i) {
        const long place = x + i + j - REACH;
        numbers[i] = place >= 0 && place < width ? NUMBER(row[place]) : 0;
      }
      taps[j] = LOAD_OF(COLUMNS)(0, numbers);
    }
  }
}

// Adds a row of the image to the sums: row k of the filter goes to the output row whose sum began k rows ago.
inline void add_row(vector_t *sums, const int phase, const vector_t *taps, const Weights filter) {
#if SEPARABLE
  vector_t sum = 0;
#pragma unroll
  for (int j = 0; j < SIZE; ++j) sum = MULTIPLY_ADD((vector_t)(filter.weights[SIZE + j]), taps[j], sum);
#pragma unroll
  for (int k = 0; k < SIZE; ++k) {
    const int target = (phase + SIZE - k) % SIZE;
    sums[target] = MULTIPLY_ADD((vector_t)(filter.weights[k]), sum, sums[target]);
  }
#else
#pragma unroll
  for (int j = 0; j < SIZE; ++j) {
#pragma unroll
    for (int k = 0; k < SIZE; ++k) {
      const int target = (phase + SIZE - k) % SIZE;
      sums[target] = MULTIPLY_ADD((vector_t)(filter.weights[k * SIZE + j]), taps[j], sums[target]);
    }
  }
#endif
}

// The image of the output is shifted against that of the sums where the problem's anchor is not the filter's centre.
__kernel void conv2d_marching(CONV2D_PARAMETERS, const Weights filter) {
  const int shift_y = REACH - conv2d.anchor_y;
  const int shift_x = REACH - conv2d.anchor_x;
  const long items = (long)get_local_size(0);
  const Place place = place_of_group((long)get_group_id(0), COLUMNS * items, conv2d.block_rows, conv2d.output_width,
                                     conv2d.output_height);
  const long output_x = place.column + COLUMNS * (long)get_local_id(0);
  if (output_x >= conv2d.output_width) return;
  const long x = output_x + shift_x;
  const long first = place.row + shift_y;
  const long last = min(place.row + conv2d.block_rows, conv2d.output_height) + shift_y;
  image += image_first + place.image * conv2d.height * conv2d.width;
  output += output_first + place.image * conv2d.output_height * conv2d.output_width + output_x;

  vector_t sums[SIZE];
#pragma unroll
  for (int k = 0; k < SIZE; ++k) sums[k] = 0;
  // Before the first row's sum is whole, what falls out of the window belongs to no row.
  for (long y0 = first - REACH; y0 < last + REACH; y0 += SIZE) {
#pragma unroll
    for (int phase = 0; phase < SIZE; ++phase) {
      const long y = y0 + phase;
      if (y < last + REACH) {
        if (y >= 0 && y < conv2d.height) {
          vector_t taps[SIZE];
          load_taps(taps, image + y * conv2d.width, x, conv2d.width);
          add_row(sums, phase, taps, filter);
        }
        const long finished = y - REACH;
        const int oldest = (phase + 1) % SIZE;
        if (finished >= first) {
          __global sum_t *const row = output + (finished - shift_y) * conv2d.output_width;
          if (output_x + COLUMNS <= conv2d.output_width) {
            STORE_OF(COLUMNS)(sums[oldest], 0, row);
          } else {
            sum_t numbers[COLUMNS];
            STORE_OF(COLUMNS)(sums[oldest], 0, numbers);
            for (int i = 0; output_x + i < conv2d.output_width; ++i) row[i] = numbers[i];
          }
        }
        sums[oldest] = 0;
      }
    }
  }
}
