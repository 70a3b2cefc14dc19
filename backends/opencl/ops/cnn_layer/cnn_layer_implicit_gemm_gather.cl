// cnn_layer, implicit_gemm_local: the pixels of one column of a tile, which a work-item gathers. Options: those of
// gemm_register_tile.cl.
//
// Compiles alone with: -DFLOAT64=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=2 -DTENSOR_CORES=0 -DA_TURNED=0 -DB_TURNED=0 -DRUN=4
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=4 -DTENSOR_CORES=0 -DASYNC=1 -DA_TURNED=0 -DB_TURNED=0 -DRUN=4
#include "ops/cnn_layer/cnn_layer_images.cl"
#include "ops/cnn_layer/cnn_layer_product.cl"
#include "ops/gemm/gemm_register_fma_ahead.cl"

#define COUNT (DEPTH * TILE_N / ITEMS)   // steps whose pixels a work-item fetches, a multiple of 4
#define GROUP (COUNT < 8 ? COUNT : 8)  // of them, those at one place of the filter if the product is grouped

// The pixel that a column of the tile stands for. A work-item computes V neighbouring columns at a time, LANES_N * V
// apart; pixels are numbered such that a work-item has them in fours.
#if V == 4
#define PIXEL_OF_COLUMN(column) (column)
#else
#define PIXEL_OF_COLUMN(column) \
  ((column) / 32 * 32 + (column) % 16 / 2 * 4 + (column) / 16 % 2 * 2 + (column) % 2)
#endif

// Where the filter's corner lies for one column, and whether the whole filter is inside of the image.
typedef struct {
  long first;  // element of the input; 0 if the column is none
  int y;
  int x;
  int is_interior;
} Corner;

static inline Corner corner_of(const long column, const Layer layer, const Product product) {
  Corner corner;
  corner.first = 0;
  corner.y = NOWHERE;
  corner.x = NOWHERE;
  corner.is_interior = 0;
  if (column < product.columns) {
    const long image = quotient(column, product.image_columns);
    const long in_image = column - image * product.image_columns;
    const long window = product.pooled ? in_image / 4 : in_image;
    const int place = product.pooled ? (int)(in_image & 3) : 0;
    const long row = quotient(window, product.row_windows);
    const long step = product.pooled ? 2 : 1;
    corner.y = (int)((row * step + place / 2) * layer.stride - layer.padding);
    corner.x = (int)(((window - row * product.row_windows) * step + (place & 1)) * layer.stride - layer.padding);
    corner.first = image * layer.input_image + (corner.y * layer.width + corner.x) * layer.input_pixel;
    corner.is_interior = corner.y >= 0 && corner.x >= 0 && corner.y + layer.filter_height <= layer.height &&
                         corner.x + layer.filter_width <= layer.width;
  }
  return corner;
}

#if AHEAD
// Sends the pixels under COUNT steps on their way, or zeros, each to a row of the tile. Edges are tested as gather() does.
static inline void start_pixels(__local real *to, __global const real *input, const Corner corner,
                                __global const int *places, const int is_whole, const Layer *layer,
                                const Product *product) {
  const int height = (int)layer->height;
  const int width = (int)layer->width;
  __global const real *const from = input + corner.first;
  if (product->grouped) {
#pragma unroll
    for (int group = 0; group < COUNT; group += GROUP) {
      const int y = corner.y + places[product->padded_steps + group];
      const int x = corner.x + places[2 * product->padded_steps + group];
      const int is_inside = y >= 0 && y < height && x >= 0 && x < width;
#pragma unroll
      for (int i = group; i < group + GROUP; i += 4) {
        const int4 offsets = is_inside ? *(__global const int4 *)(places + i) : (int4)(0);
        start_copy(to + i * B_WIDTH, from + offsets.x, is_inside);
        start_copy(to + (i + 1) * B_WIDTH, from + offsets.y, is_inside);
        start_copy(to + (i + 2) * B_WIDTH, from + offsets.z, is_inside);
        start_copy(to + (i + 3) * B_WIDTH, from + offsets.w, is_inside);
      }
    }
  } else if (corner.is_interior && is_whole) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 4) {
      const int4 offsets = *(__global const int4 *)(places + i);
      start_copy(to + i * B_WIDTH, from + offsets.x, 1);
      start_copy(to + (i + 1) * B_WIDTH, from + offsets.y, 1);
      start_copy(to + (i + 2) * B_WIDTH, from + offsets.z, 1);
      start_copy(to + (i + 3) * B_WIDTH, from + offsets.w, 1);
    }
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const int y = corner.y + places[product->padded_steps + i];
      const int x = corner.x + places[2 * product->padded_steps + i];
      const int is_inside = y >= 0 && y < height && x >= 0 && x < width;
      start_copy(to + i * B_WIDTH, from + (is_inside ? places[i] : 0), is_inside);
    }
  }
}
#else
// The pixels under COUNT steps; 0 for those outside of the image, behind the last column or behind the last step. Where
// 8 steps are channels of one place of the filter (`grouped`), one test of the edges serves all 8, and where they lie
// beside each other (`in_vectors`), a few loads read them. Else, where the whole filter lies inside of the image, one
// test serves all steps.
static inline void gather(real *pixels, __global const real *input, const Corner corner,
                          __global const int *places, const int is_whole, const int in_vectors,
                          const Layer *layer, const Product *product) {
  const int height = (int)layer->height;
  const int width = (int)layer->width;
  if (product->grouped) {
#pragma unroll
    for (int group = 0; group < COUNT; group += GROUP) {
      const int y = corner.y + places[product->padded_steps + group];
      const int x = corner.x + places[2 * product->padded_steps + group];
      const int is_inside = y >= 0 && y < height && x >= 0 && x < width;
      __global const real *const from = input + corner.first;
      if (in_vectors) {
#pragma unroll
        for (int i = group; i < group + GROUP; i += V) {
          const vector some = is_inside ? *(__global const vector *)(from + places[i]) : (vector)(0);
          STORE_VECTOR(some, 0, pixels + i);
        }
      } else {
#pragma unroll
        for (int i = group; i < group + GROUP; i += 4) {
          const int4 offsets = *(__global const int4 *)(places + i);
          pixels[i] = is_inside ? from[offsets.x] : 0;
          pixels[i + 1] = is_inside ? from[offsets.y] : 0;
          pixels[i + 2] = is_inside ? from[offsets.z] : 0;
          pixels[i + 3] = is_inside ? from[offsets.w] : 0;
        }
      }
    }
  } else if (corner.is_interior && is_whole) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 4) {
      const int4 offsets = *(__global const int4 *)(places + i);
      pixels[i] = input[corner.first + offsets.x];
      pixels[i + 1] = input[corner.first + offsets.y];
      pixels[i + 2] = input[corner.first + offsets.z];
      pixels[i + 3] = input[corner.first + offsets.w];
    }
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const int y = corner.y + places[product->padded_steps + i];
      const int x = corner.x + places[2 * product->padded_steps + i];
      const int is_inside = y >= 0 && y < height && x >= 0 && x < width;
      pixels[i] = is_inside ? input[corner.first + places[i]] : 0;
    }
  }
}
#endif
