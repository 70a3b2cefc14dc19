// conv2d, separable_passes: filters of every size that are a column times a row. A work-group marches down a strip of
// the output, STEP rows at a time, with the last rows of sums along the rows in local memory. ROW_TAIL and COLUMN_TAIL
// are the lengths of the last segments of the row and of the column, 1 to 8.
//
//          STRIP + filter - 1 pixels          At each step STEP rows of pixels, fetched during the step before, come to
//         +--------------------------+        local memory. In the first pass a work-item sums 16 neighbouring columns
//   STEP  |  pixels, as numbers      |        along one row; the row of sums goes to a ring of STEP + filter - 1 rows.
//   rows  +--------------------------+        In the second pass a work-item has one column and sums it down for STEP
//            | first pass: along rows         rows of the output. A row of the image is summed once for all outputs above
//            v                                and below it, but for the filter - 1 rows that two runs share.
//         +-----------------------+
//         | ring of row sums      |           Products for a pixel: the filter's rows + columns. In either pass 16 + 8
//         +-----------------------+           numbers stand in registers as a window that moves on by 8: 8 numbers and 8
//            | second pass: down columns      weights that are loaded serve 128 products.
//            v
//          STRIP x STEP outputs
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DEXACT_INTEGERS=0 -DSTRIP=128 -DFETCHED=6 -DROW_TAIL=1 -DCOLUMN_TAIL=8
// Compiles alone with: -DPIXEL=uchar -DIS_FLOAT=1 -DEXACT_INTEGERS=1 -DSTRIP=64 -DFETCHED=3 -DROW_TAIL=8 -DCOLUMN_TAIL=1
#include "ops/conv2d/conv2d_local_rows.cl"

#define STEP 16
#define SUMS 16
#define ACROSS (STRIP / SUMS)
#define ITEMS STRIP
#define WINDOW (SUMS + SEGMENT)
// Rows that LANES work-items fetch at a step, every so many.
#define ROW_STRIDE (ITEMS / LANES)
#define FETCHED_ROWS (STEP / ROW_STRIDE)

// Fetches the pixels of a step. `row`: this work-item's first pixel of its first row, which is row y of the image.
ALWAYS_INLINE void fetch_rows(PIXEL (*pixels)[FETCHED], __global const PIXEL* row, const long y, const Columns own,
                              const Conv2d conv2d, const bool all_inside) {
#pragma unroll
  for (int k = 0; k < FETCHED_ROWS; ++k) {
    const long source = y + k * ROW_STRIDE;
    fetch_row(pixels[k], row, source >= 0 && source < conv2d.height, own, all_inside);
    row += ROW_STRIDE * conv2d.width;
  }
}
ALWAYS_INLINE void fetch_step(PIXEL (*pixels)[FETCHED], __global const PIXEL* row, const long y, const Columns own,
                              const Conv2d conv2d) {
  if (own.all_inside) {
    fetch_rows(pixels, row, y, own, conv2d, true);
  } else {
    fetch_rows(pixels, row, y, own, conv2d, false);
  }
}

// Adds `taps` products to each of the SUMS sums: weight j goes with number j + i of the window to sum i.
ALWAYS_INLINE void add_taps(sum_t* sums, const sum_t* window, __local const numbers4_t* weights, const int taps) {
  sum_t weight[SEGMENT];
  take_quad(weight, weights[0]);
  if (taps > 4) take_quad(weight + 4, weights[1]);
#pragma unroll
  for (int j = 0; j < SEGMENT; ++j) {
    if (j < taps) {
#pragma unroll
      for (int i = 0; i < SUMS; ++i) sums[i] = MULTIPLY_ADD(weight[j], window[i + j], sums[i]);
    }
  }
}

ALWAYS_INLINE void move_on(sum_t* window) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) window[i] = window[i + SEGMENT];
}

// The first pass: SUMS sums along a row of pixels, from quad on.
ALWAYS_INLINE void sum_along(sum_t* sums, __local const numbers4_t* pixels, int quad, __local const numbers4_t* weights,
                             const int segments) {
  sum_t window[WINDOW];
#pragma unroll
  for (int i = 0; i < SUMS / 4; ++i) take_quad(window + 4 * i, pixels[place_of_quad(quad + i)]);
  quad += SUMS / 4;
  for (int segment = 0; segment + 1 < segments; ++segment) {
#pragma unroll
    for (int i = 0; i < 2; ++i) take_quad(window + SUMS + 4 * i, pixels[place_of_quad(quad + i)]);
    add_taps(sums, window, weights, SEGMENT);
    move_on(window);
    quad += SEGMENT / 4;
    weights += SEGMENT / 4;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (4 * i < ROW_TAIL - 1) take_quad(window + SUMS + 4 * i, pixels[place_of_quad(quad + i)]);
  }
  add_taps(sums, window, weights, ROW_TAIL);
}

// SEGMENT rows of one column of the ring, which end before the ring does. Of the last segment there are fewer.
ALWAYS_INLINE void take_rows(sum_t* numbers, __local const sum_t* ring, const int slot, const int pitch,
                             const int rows) {
#pragma unroll
  for (int i = 0; i < SEGMENT; ++i) {
    if (i < rows) numbers[i] = ring[(slot + i) * pitch];
  }
}

// The second pass: SUMS sums down one column of the ring, from slot `first` on. Slots stand in a ring of `slots`, a
// multiple of SEGMENT, as `first` is.
ALWAYS_INLINE void sum_down(sum_t* sums, __local const sum_t* ring, const int first, const int slots, const int pitch,
                            __local const numbers4_t* weights, const int segments) {
  sum_t window[WINDOW];
  int slot = first;
#pragma unroll
  for (int i = 0; i < SUMS; i += SEGMENT) {
    take_rows(window + i, ring, slot, pitch, SEGMENT);
    slot = slot + SEGMENT == slots ? 0 : slot + SEGMENT;
  }
  for (int segment = 0; segment + 1 < segments; ++segment) {
    take_rows(window + SUMS, ring, slot, pitch, SEGMENT);
    slot = slot + SEGMENT == slots ? 0 : slot + SEGMENT;
    add_taps(sums, window, weights, SEGMENT);
    move_on(window);
    weights += SEGMENT / 4;
  }
  take_rows(window + SUMS, ring, slot, pitch, COLUMN_TAIL - 1);
  add_taps(sums, window, weights, COLUMN_TAIL);
}

// `weights`: the column's, then the row's, each filled up with zeros to whole segments. Rows of the strip's image are
// counted from the first that the run needs; those of a step are so chosen that outputs begin at multiples of STEP.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void conv2d_separable_passes(
    CONV2D_PARAMETERS, __global const sum_t* restrict weights, __local numbers4_t* memory) {
  const int item = (int)get_local_id(0);
  const int lane = item % LANES;
  const Place place =
      place_of_group((long)get_group_id(0), STRIP, conv2d.block_rows, conv2d.output_width, conv2d.output_height);
  const int columns = columns_under(STRIP, conv2d.filter_width);
  const int pixel_pitch = pitch_of(columns);
  const int ring_pitch = pitch_of(STRIP);
  const int column_segments = (conv2d.filter_height + SEGMENT - 1) / SEGMENT;
  const int row_segments = (conv2d.filter_width + SEGMENT - 1) / SEGMENT;
  const int slots = (conv2d.filter_height - 1 + STEP + SEGMENT - 1) / SEGMENT * SEGMENT;
  const int ahead = (conv2d.filter_height - 1 + STEP - 1) / STEP;  // steps before the first output is whole
  __local numbers4_t* const ring = memory + STEP * pixel_pitch;
  __local numbers4_t* const local_weights = ring + slots * ring_pitch;
  for (int i = item; i < (column_segments + row_segments) * SEGMENT; i += ITEMS) {
    ((__local sum_t*)local_weights)[i] = weights[i];
  }

  const long x = place.column - conv2d.anchor_x;
  long y = place.row - conv2d.anchor_y + conv2d.filter_height - 1 - ahead * STEP + item / LANES;
  const Columns own = columns_of(x, lane, columns, conv2d.width);
  image += image_first + (place.image * conv2d.height + y) * conv2d.width + x + lane;
  const int rows = (int)min(conv2d.block_rows, conv2d.output_height - place.row);
  const int left = (int)min((long)STRIP, conv2d.output_width - place.column);
  output += output_first + (place.image * conv2d.output_height + place.row) * conv2d.output_width + place.column + item;
  // Where the step's rows go: the first row that the run needs to slot 0, those before it to the ring's end.
  const int before = ahead * STEP - (conv2d.filter_height - 1);  // rows of the first step that no output needs
  int newest = before == 0 ? 0 : slots - before;
  int oldest = 0;

  PIXEL pixels[FETCHED_ROWS][FETCHED];
  fetch_step(pixels, image, y, own, conv2d);
  for (int first = -ahead * STEP; first < rows; first += STEP) {
#pragma unroll
    for (int k = 0; k < FETCHED_ROWS; ++k) {
      put_row((__local sum_t*)(memory + (item / LANES + k * ROW_STRIDE) * pixel_pitch) + lane, pixels[k], own);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    y += STEP;
    image += STEP * conv2d.width;
    if (first + STEP < rows) fetch_step(pixels, image, y, own, conv2d);
    {
      sum_t sums[SUMS];
#pragma unroll
      for (int i = 0; i < SUMS; ++i) sums[i] = 0;
      const int row = item / ACROSS;
      const int quad = item % ACROSS * (SUMS / 4);
      sum_along(sums, memory + row * pixel_pitch, quad, local_weights + column_segments * (SEGMENT / 4), row_segments);
      const int slot = newest + row < slots ? newest + row : newest + row - slots;
#pragma unroll
      for (int i = 0; i < SUMS; i += 4) {
        ring[slot * ring_pitch + place_of_quad(quad + i / 4)] =
            (numbers4_t)(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
      }
      newest = newest + STEP < slots ? newest + STEP : newest + STEP - slots;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first >= 0) {
      sum_t sums[SUMS];
#pragma unroll
      for (int i = 0; i < SUMS; ++i) sums[i] = 0;
      sum_down(sums, (__local const sum_t*)ring + place_of(item), oldest, slots, 4 * ring_pitch, local_weights,
               column_segments);
      oldest = oldest + STEP < slots ? oldest + STEP : oldest + STEP - slots;
      if (item < left) {
#pragma unroll
        for (int i = 0; i < SUMS; ++i) {
          if (first + i < rows) output[i * conv2d.output_width] = RESULT(sums[i]);
        }
      }
      output += STEP * conv2d.output_width;
    }
  }
}
