// conv2d, register_tiled: a tile of the output with its halo in local memory, 8 x ROWS sums of it in the registers of
// each work-item. For filters of every size; TAIL is the length of the last segment of a row of the filter, 1 to 8.
//
//      128 columns, 8 a work-item               A work-item holds ROWS rows of the 15 numbers that lie under a segment of
//     +------+------+------+--  --+             8 weights. At each row of the filter the oldest makes room for the next:
//     | item | item | item |      | 8 * ROWS    a row of the image is loaded once for ROWS rows of sums. The ring of rows
//     +------+------+------+--  --+ rows,       turns in code that is unrolled. With ROWS = 4 the 16 numbers and 8
//     |      |      |      |      | ROWS a      weights that are loaded for a segment serve 256 products. With fewer rows
//     +------+------+------+--  --+ work-item   there are more groups, for images that have few.
//
// The tile comes to local memory in bands of up to BAND rows of the filter: 8 * ROWS + BAND - 1 rows of 128 + filter - 1
// numbers, which stays below 48 KiB for every filter. A pixel is read from global memory some
// (1 + filter / 128) * (1 + BAND / (8 * ROWS)) times for each band. The sums leave through the same local memory, so that
// neighbouring work-items store neighbouring pixels whatever the alignment.
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DEXACT_INTEGERS=0 -DROWS=4 -DBAND=16 -DTAIL=1 -DFETCHED=5
// Compiles alone with: -DPIXEL=uchar -DIS_FLOAT=1 -DEXACT_INTEGERS=1 -DROWS=1 -DBAND=16 -DTAIL=8 -DFETCHED=6
#define STRIP 128
#include "ops/conv2d/conv2d_local_rows.cl"

#define COLUMNS 8
#define ACROSS 16
#define DOWN 8
#define TILE_ROWS (DOWN * ROWS)
#define ITEMS (ACROSS * DOWN)
#define WINDOW (COLUMNS + SEGMENT)

// Numbers from quad on that `width` weights need for COLUMNS sums.
ALWAYS_INLINE void load_window(sum_t* window, __local const numbers4_t* row, const int quad, const int width) {
#pragma unroll
  for (int i = 0; i < WINDOW / 4; ++i) {
    if (4 * i < COLUMNS + width - 1) take_quad(window + 4 * i, row[place_of_quad(quad + i)]);
  }
}

// Adds a segment of `width` weights of each of the band's rows. `row`: the first that lies under this work-item's sums;
// `quad`: the first of the segment. `weights`: two quads a row of the filter.
ALWAYS_INLINE void add_segment(sum_t (*sums)[COLUMNS], __local const numbers4_t* row, const int pitch, const int quad,
                               __local const numbers4_t* weights, const int filter_rows, const int width) {
  sum_t ring[ROWS][WINDOW];
#pragma unroll
  for (int r = 0; r + 1 < ROWS; ++r) {
    load_window(ring[r], row, quad, width);
    row += pitch;
  }
  for (int first = 0; first < filter_rows; first += ROWS) {
#pragma unroll
    for (int phase = 0; phase < ROWS; ++phase) {
      if (first + phase < filter_rows) {
        load_window(ring[(phase + ROWS - 1) % ROWS], row, quad, width);
        row += pitch;
        sum_t weight[SEGMENT];
        take_quad(weight, weights[0]);
        if (width > 4) take_quad(weight + 4, weights[1]);
        weights += SEGMENT / 4;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
#pragma unroll
          for (int j = 0; j < SEGMENT; ++j) {
            if (j < width) {
#pragma unroll
              for (int i = 0; i < COLUMNS; ++i) {
                sums[r][i] = MULTIPLY_ADD(weight[j], ring[(phase + r) % ROWS][i + j], sums[r][i]);
              }
            }
          }
        }
      }
    }
  }
}

// Brings rows of the image into the tile, two rows at a time for each LANES work-items. `image`: the tile's first pixel,
// in row y.
ALWAYS_INLINE void load_rows(__local sum_t* tile, __global const PIXEL* image, const Conv2d conv2d, const long y,
                             const Columns own, const int rows, const int pitch, const int item,
                             const bool all_inside) {
  const int first_inside = (int)clamp(-y, 0l, (long)rows);
  const int last_inside = (int)clamp(conv2d.height - y, 0l, (long)rows);
  const int step = ITEMS / LANES;
  image += item / LANES * conv2d.width + item % LANES;
  tile += item / LANES * pitch + item % LANES;
  for (int row = item / LANES; row < rows; row += 2 * step) {
    const int next = row + step;
    PIXEL pixels[2][FETCHED];
    fetch_row(pixels[0], image, row >= first_inside && row < last_inside, own, all_inside);
    image += step * conv2d.width;
    fetch_row(pixels[1], image, next >= first_inside && next < last_inside, own, all_inside);
    image += step * conv2d.width;
    put_row(tile, pixels[0], own);
    tile += step * pitch;
    if (next < rows) put_row(tile, pixels[1], own);
    tile += step * pitch;
  }
}
ALWAYS_INLINE void load_tile(__local sum_t* tile, __global const PIXEL* image, const Conv2d conv2d, const long y,
                             const Columns own, const int rows, const int pitch, const int item) {
  if (own.all_inside) {
    load_rows(tile, image, conv2d, y, own, rows, pitch, item, true);
  } else {
    load_rows(tile, image, conv2d, y, own, rows, pitch, item, false);
  }
}

// `weights`: segments of the filter's rows, SEGMENT for each, those of one segment row by row.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void conv2d_register_tiled(
    CONV2D_PARAMETERS, __global const sum_t* restrict weights, __local numbers4_t* memory) {
  const int item = (int)get_local_id(0);
  const int across = item % ACROSS;
  const int down = item / ACROSS;
  const Place place =
      place_of_group((long)get_group_id(0), STRIP, TILE_ROWS, conv2d.output_width, conv2d.output_height);
  const long x = place.column - conv2d.anchor_x;
  image += image_first + place.image * conv2d.height * conv2d.width;
  output += output_first + (place.image * conv2d.output_height + place.row) * conv2d.output_width + place.column;

  const int tile_columns = columns_under(STRIP, conv2d.filter_width);
  const int pitch = pitch_of(tile_columns);
  const Columns own = columns_of(x, item % LANES, tile_columns, conv2d.width);
  const int segments = (conv2d.filter_width + SEGMENT - 1) / SEGMENT;
  const int bands = (conv2d.filter_height + BAND - 1) / BAND;
  const int band = small_quotient(conv2d.filter_height + bands - 1, bands);
  __local numbers4_t* const band_weights = memory + pitch * (TILE_ROWS + band - 1);
  __local sum_t* const tile = (__local sum_t*)memory;

  sum_t sums[ROWS][COLUMNS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) sums[r][i] = 0;
  }
  for (int first = 0; first < conv2d.filter_height; first += band) {
    const int filter_rows = min(band, conv2d.filter_height - first);
    const long y = place.row + first - conv2d.anchor_y;
    barrier(CLK_LOCAL_MEM_FENCE);  // slower work-items still read the band before
    load_tile(tile, image + y * conv2d.width + x, conv2d, y, own, TILE_ROWS + filter_rows - 1, 4 * pitch, item);
    for (int i = item; i < segments * filter_rows * SEGMENT; i += ITEMS) {
      const int row = i / SEGMENT;
      const int segment = small_quotient(row, filter_rows);
      ((__local sum_t*)band_weights)[i] =
          weights[(segment * conv2d.filter_height + first + row - segment * filter_rows) * SEGMENT + i % SEGMENT];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const numbers4_t* const row = memory + down * ROWS * pitch;
    const int quad = across * (COLUMNS / 4);
    for (int segment = 0; segment + 1 < segments; ++segment) {
      add_segment(sums, row, pitch, quad + segment * (SEGMENT / 4),
                  band_weights + segment * filter_rows * (SEGMENT / 4), filter_rows, SEGMENT);
    }
    add_segment(sums, row, pitch, quad + (segments - 1) * (SEGMENT / 4),
                band_weights + (segments - 1) * filter_rows * (SEGMENT / 4), filter_rows, TAIL);
  }

  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int i = 0; i < COLUMNS; i += 4) {
      memory[(down * ROWS + r) * pitch + place_of_quad(across * (COLUMNS / 4) + i / 4)] =
          (numbers4_t)(sums[r][i], sums[r][i + 1], sums[r][i + 2], sums[r][i + 3]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int rows = (int)min((long)TILE_ROWS, conv2d.output_height - place.row);
  const int columns = (int)min((long)STRIP, conv2d.output_width - place.column);
  const int lane = item % LANES;
  __local const sum_t* numbers = tile + item / LANES * pitch * 4 + lane;
  output += item / LANES * conv2d.output_width + lane;
  for (int row = item / LANES; row < rows; row += ITEMS / LANES) {
#pragma unroll
    for (int i = 0; i < STRIP / LANES; ++i) {
      if (lane + i * LANES < columns) output[i * LANES] = RESULT(numbers[i * (LANES + 4)]);
    }
    numbers += ITEMS / LANES * pitch * 4;
    output += ITEMS / LANES * conv2d.output_width;
  }
}
