// cnn_layer, subtile: the scheme of the published study, all four stages on a sub-tile in private memory. Options:
// SUB_CHANNELS, SUB_ROWS, SUB_COLUMNS; FILTER_OUTERMOST, UNROLL, FUSED, ALIGNED, SUMS_ALIGNED, SUMS_ZEROED, GLOBAL_IDS,
// each 0 or 1: the study's findings.
//
//   output                    A work-group computes a tile of channels x rows x columns, made of sub-tiles, a work-item
//   +------+------+           one sub-tile after the other: the sums of its part of the convolution, then bias, ReLU and
//   | tile |      |           the pool on them. A sub-tile holds whole windows of the pool: all that fit for a 2 x 2 pool
//   |+--+--+      |           with stride 2, one for any other.
//   ||st|st|      |
//   |+--+--+      |           FILTER_OUTERMOST: input channel and filter position outside, the sub-tile inside: a step
//   +------+------+           reads rows x columns pixels and `channels` weights, which the preparation laid beside each
//                             other, for channels x rows x columns products. Else sum after sum, two reads a product.
//
// UNROLL: the loop over the sub-tile's channels is unrolled, so that its sums can stay in registers. FUSED: bias, ReLU
// and pool in one loop, not in three. ALIGNED: weights are read as whole vectors, else one by one. SUMS_ALIGNED: the
// sums' private array begins at a multiple of 128 bytes. SUMS_ZEROED: it is filled with zeros first; else the first step
// writes its products there, and all others add. GLOBAL_IDS: a work-item's place follows from get_global_id, else from
// get_group_id and get_local_id. No local memory: neighbouring work-items meet in the first-level cache.
//
// Compiles alone with: -DFLOAT64=0 -DSUB_CHANNELS=8 -DSUB_ROWS=2 -DSUB_COLUMNS=4 -DFILTER_OUTERMOST=1 -DUNROLL=1 -DFUSED=1 -DALIGNED=1 -DSUMS_ALIGNED=0 -DSUMS_ZEROED=1 -DGLOBAL_IDS=0
// Compiles alone with: -DFLOAT64=1 -DSUB_CHANNELS=1 -DSUB_ROWS=4 -DSUB_COLUMNS=4 -DFILTER_OUTERMOST=0 -DUNROLL=0 -DFUSED=0 -DALIGNED=0 -DSUMS_ALIGNED=1 -DSUMS_ZEROED=0 -DGLOBAL_IDS=1
// Compiles alone with: -DFLOAT64=0 -DSUB_CHANNELS=4 -DSUB_ROWS=2 -DSUB_COLUMNS=2 -DFILTER_OUTERMOST=1 -DUNROLL=1 -DFUSED=0 -DALIGNED=1 -DSUMS_ALIGNED=1 -DSUMS_ZEROED=0 -DGLOBAL_IDS=0
#include "ops/cnn_layer/cnn_layer_images.cl"

#if FLOAT64
#define V 2
#define LOAD_VECTOR vload2
#define STORE_VECTOR vstore2
typedef double2 vector;
#else
#define V 4
#define LOAD_VECTOR vload4
#define STORE_VECTOR vstore4
typedef float4 vector;
#endif
#if UNROLL
#define CHANNEL_LOOP _Pragma("unroll")
#else
#define CHANNEL_LOOP _Pragma("unroll 1")
#endif
#define READS_VECTORS (ALIGNED && UNROLL && SUB_CHANNELS % V == 0)
#if SUMS_ALIGNED
#define ALIGNED_SUMS __attribute__((aligned(128)))
#else
#define ALIGNED_SUMS
#endif

// The host's CnnLayerTiles.
typedef struct {
  long weights_step;  // elements from one step's prepared weights to the next one's
  long tiles_x, tiles_y, tiles_channels;
  long items_x, items_y, items_channels;  // sub-tiles of a tile
  long windows_x, windows_y;              // outputs of a sub-tile
} Tiles;
SIZE_ON_THE_HOST(Tiles, 72);

// A sub-tile's place: the pixel under the filter's corner for its first sum, and where its outputs begin.
typedef struct {
  long y, x;
  long output_y, output_x;
  long channel;
  int is_inside;  // no pixel of it lies outside of the image
} Place;

// Pixel (y, x) of a channel, 0 outside of the image.
static inline real pixel_at(__global const real *plane, const long y, const long x, const Layer *layer) {
  return y >= 0 && y < layer->height && x >= 0 && x < layer->width
             ? plane[(y * layer->width + x) * layer->input_pixel]
             : 0;
}

// Fills the sums with zeros.
static inline void clear(real sums[SUB_CHANNELS][SUB_ROWS][SUB_COLUMNS]) {
  CHANNEL_LOOP for (int o = 0; o < SUB_CHANNELS; ++o) {
#pragma unroll
    for (int r = 0; r < SUB_ROWS; ++r) {
#pragma unroll
      for (int s = 0; s < SUB_COLUMNS; ++s) sums[o][r][s] = 0;
    }
  }
}

#if FILTER_OUTERMOST
// One input channel and filter position: its products are added to the sums, or begin them, which is known when this is
// compiled.
static inline void add_step(real sums[SUB_CHANNELS][SUB_ROWS][SUB_COLUMNS], const int begins,
                            __global const real *plane, __global const real *weights, const long i, const long j,
                            const Place at, const Layer *layer) {
  const long column_step = layer->stride * layer->input_pixel;
  const long row_step = column_step * layer->width;
  real pixels[SUB_ROWS][SUB_COLUMNS];
  if (at.is_inside) {
    __global const real *const corner = plane + ((at.y + i) * layer->width + at.x + j) * layer->input_pixel;
#pragma unroll
    for (int r = 0; r < SUB_ROWS; ++r) {
#pragma unroll
      for (int s = 0; s < SUB_COLUMNS; ++s) pixels[r][s] = corner[r * row_step + s * column_step];
    }
  } else {
#pragma unroll
    for (int r = 0; r < SUB_ROWS; ++r) {
#pragma unroll
      for (int s = 0; s < SUB_COLUMNS; ++s) {
        pixels[r][s] = pixel_at(plane, at.y + r * layer->stride + i, at.x + s * layer->stride + j, layer);
      }
    }
  }
#if READS_VECTORS
  real weight[SUB_CHANNELS];
#pragma unroll
  for (int o = 0; o < SUB_CHANNELS; o += V) STORE_VECTOR(*(__global const vector *)(weights + o), 0, weight + o);
#else
  __global const real *const weight = weights;
#endif
  CHANNEL_LOOP for (int o = 0; o < SUB_CHANNELS; ++o) {
#pragma unroll
    for (int r = 0; r < SUB_ROWS; ++r) {
#pragma unroll
      for (int s = 0; s < SUB_COLUMNS; ++s) {
        if (begins) {
          sums[o][r][s] = weight[o] * pixels[r][s];
        } else {
          sums[o][r][s] += weight[o] * pixels[r][s];
        }
      }
    }
  }
}

static inline void convolve(real sums[SUB_CHANNELS][SUB_ROWS][SUB_COLUMNS], __global const real *image,
                            __global const real *weights, const Place at, const Layer *layer, const Tiles *tiles) {
#if SUMS_ZEROED
  long first_j = 0;
#else
  if (layer->input_channels == 0) {
    clear(sums);
    return;
  }
  add_step(sums, 1, image, weights, 0, 0, at, layer);
  weights += tiles->weights_step;
  long first_j = 1;
#endif
  for (long c = 0; c < layer->input_channels; ++c) {
    __global const real *const plane = image + c * layer->input_channel;
    for (long i = 0; i < layer->filter_height; ++i) {
      for (long j = first_j; j < layer->filter_width; ++j) {
        add_step(sums, 0, plane, weights, i, j, at, layer);
        weights += tiles->weights_step;
      }
      first_j = 0;
    }
  }
}
#else
static inline void convolve(real sums[SUB_CHANNELS][SUB_ROWS][SUB_COLUMNS], __global const real *image,
                            __global const real *weights, const Place at, const Layer *layer, const Tiles *tiles) {
  CHANNEL_LOOP for (int o = 0; o < SUB_CHANNELS; ++o) {
    for (int r = 0; r < SUB_ROWS; ++r) {
      for (int s = 0; s < SUB_COLUMNS; ++s) {
        __global const real *weight = weights + o;
        real sum = 0;
        for (long c = 0; c < layer->input_channels; ++c) {
          __global const real *const plane = image + c * layer->input_channel;
          for (long i = 0; i < layer->filter_height; ++i) {
            for (long j = 0; j < layer->filter_width; ++j) {
              sum += *weight * pixel_at(plane, at.y + r * layer->stride + i, at.x + s * layer->stride + j, layer);
              weight += tiles->weights_step;
            }
          }
        }
        sums[o][r][s] = sum;
      }
    }
  }
}
#endif

// The windows of a sub-tile, `pool` x `pool` beside each other, which is known when this is compiled.
static inline void store_windows(real sums[SUB_CHANNELS][SUB_ROWS][SUB_COLUMNS], const int pool,
                                 __global const real *bias, __global real *output, const Place at,
                                 const Layer *layer, const Tiles *tiles) {
#if !FUSED
  CHANNEL_LOOP for (int o = 0; o < SUB_CHANNELS; ++o) {
    const real of_channel = layer->has_bias && at.channel + o < layer->output_channels ? bias[at.channel + o] : 0;
#pragma unroll
    for (int r = 0; r < SUB_ROWS; ++r) {
#pragma unroll
      for (int s = 0; s < SUB_COLUMNS; ++s) sums[o][r][s] += of_channel;
    }
  }
  if (layer->relu) {
    CHANNEL_LOOP for (int o = 0; o < SUB_CHANNELS; ++o) {
#pragma unroll
      for (int r = 0; r < SUB_ROWS; ++r) {
#pragma unroll
        for (int s = 0; s < SUB_COLUMNS; ++s) sums[o][r][s] = finished(sums[o][r][s], 0, 1);
      }
    }
  }
#endif
  CHANNEL_LOOP for (int o = 0; o < SUB_CHANNELS; ++o) {
    if (at.channel + o < layer->output_channels) {
      __global real *const plane = output + (at.channel + o) * layer->output_channel;
#if FUSED
      const real of_channel = layer->has_bias ? bias[at.channel + o] : 0;
#endif
#pragma unroll
      for (int r = 0, window_y = 0; r + pool <= SUB_ROWS; r += pool, ++window_y) {
#pragma unroll
        for (int s = 0, window_x = 0; s + pool <= SUB_COLUMNS; s += pool, ++window_x) {
          real most = sums[o][r][s];
#pragma unroll
          for (int i = 0; i < pool; ++i) {
#pragma unroll
            for (int j = 0; j < pool; ++j) {
              if (i + j > 0) most = larger(most, sums[o][r + i][s + j]);
            }
          }
#if FUSED
          most = finished(most, of_channel, layer->relu);
#endif
          const long y = at.output_y + window_y;
          const long x = at.output_x + window_x;
          if (window_y < tiles->windows_y && window_x < tiles->windows_x && y < layer->output_height &&
              x < layer->output_width) {
            plane[(y * layer->output_width + x) * layer->output_pixel] = most;
          }
        }
      }
    }
  }
}

__kernel void cnn_layer_subtile(CNN_LAYER_OPERANDS, const Layer layer, const Tiles tiles) {
  const int group_items = (int)get_local_size(0);
#if GLOBAL_IDS
  long group = quotient((long)get_global_id(0), group_items);
  const int first_item = (int)((long)get_global_id(0) - group * group_items);
#else
  long group = (long)get_group_id(0);
  const int first_item = (int)get_local_id(0);
#endif
  long rest = quotient(group, tiles.tiles_x);
  const long tile_x = group - rest * tiles.tiles_x;
  group = rest;
  rest = quotient(group, tiles.tiles_y);
  const long tile_y = group - rest * tiles.tiles_y;
  const long image = quotient(rest, tiles.tiles_channels);
  const long tile_channel = rest - image * tiles.tiles_channels;
  bias += bias_first;
  output += output_first + image * layer.output_image;
  __global const real *const from = input + input_first + image * layer.input_image;

  const int items = (int)(tiles.items_x * tiles.items_y * tiles.items_channels);
  for (int item = first_item; item < items; item += group_items) {
    const int item_line = small_quotient(item, (int)tiles.items_x);
    const int item_channel = small_quotient(item_line, (int)tiles.items_y);
    Place at;
    at.channel = (tile_channel * tiles.items_channels + item_channel) * SUB_CHANNELS;
    at.output_y = (tile_y * tiles.items_y + item_line - item_channel * tiles.items_y) * tiles.windows_y;
    at.output_x = (tile_x * tiles.items_x + item - item_line * tiles.items_x) * tiles.windows_x;
    if (at.channel < layer.output_channels && at.output_y < layer.output_height && at.output_x < layer.output_width) {
      at.y = at.output_y * layer.pool_stride * layer.stride - layer.padding;
      at.x = at.output_x * layer.pool_stride * layer.stride - layer.padding;
      real sums[SUB_CHANNELS][SUB_ROWS][SUB_COLUMNS] ALIGNED_SUMS;
#if SUMS_ZEROED
      clear(sums);
#endif
      __global const real *const weights_here = weights + weights_first + at.channel;
      at.is_inside = at.y >= 0 && at.x >= 0 &&
                     at.y + (SUB_ROWS - 1) * layer.stride + layer.filter_height <= layer.height &&
                     at.x + (SUB_COLUMNS - 1) * layer.stride + layer.filter_width <= layer.width;
      convolve(sums, from, weights_here, at, &layer, &tiles);
      if (layer.pool_size == 1) store_windows(sums, 1, bias, output, at, &layer, &tiles);
#if SUB_ROWS >= 2 && SUB_COLUMNS >= 2
      if (layer.pool_size == 2) store_windows(sums, 2, bias, output, at, &layer, &tiles);
#endif
#if SUB_ROWS >= 3 && SUB_COLUMNS >= 3
      if (layer.pool_size == 3) store_windows(sums, 3, bias, output, at, &layer, &tiles);
#endif
    }
  }
}
