// cnn_layer, implicit_gemm_panels: the one for processors. See cnn_layer_product.cl. Options: WIDTH, of a vector register;
// VECTORS, of output channels of a panel; HALF, columns of half a tile, even.
//
//   pixels of one row of outputs                     One work-item computes tiles, 2 * HALF columns x VECTORS * WIDTH
//     +-----+-----+-----+                            output channels, one beside the other, and is a group of its own: a
//     |tile |tile |tile | 2 rows, to be pooled,      processor's thread has nothing to share with its neighbours but the
//     +-----+-----+-----+ or one row of 2 * HALF     caches. A tile's sums stay in vector registers over all steps. For
//                                                    each it loads a row of the panel of weights, VECTORS vectors, and
//   panel of weights     step 0: o o o o             multiplies it with each of the 2 * HALF pixels, which lie the same
//                        step 1: o o o o             way from the ones before for every step: the filter's place gives
//                        ...                         one offset for all of them. No barrier, no local memory, no copy.
//
// A weight is read columns / (2 * HALF) times, from the second-level cache, where a panel stays while the rows below
// each other use it; a pixel filter * filter times for each panel. The last tile of a row begins further left, so that
// it ends with the row. Where an image has padding, or rows shorter than a tile, cnn_layer_pad.cl has copied it into
// one that has room on all sides. A 2 x 2 pool with stride 2 is done on the sums in registers.
//
// Compiles alone with: -DFLOAT64=0 -DWIDTH=16 -DVECTORS=2 -DHALF=6
#include "ops/cnn_layer/cnn_layer_images.cl"
#include "ops/cnn_layer/cnn_layer_product.cl"
#include "ops/vector.cl"

#define PANEL (VECTORS * WIDTH)

// The host's CnnLayerRows.
typedef struct {
  long image_step;  // elements from one image that is read to the next
  long row_step;    // from one row of sums to the next one's pixels
  long sum_step;    // from one sum of a row to the next one's
  long rows;                              // of outputs, or before the pool if that is not done here
  long tiles_of_row, tiles_of_group;
} Rows;
SIZE_ON_THE_HOST(Rows, 48);

static inline vector larger_of(const vector a, const vector b) {
  return select(b, a, (a > b) | (a != a));
}

static inline vector finished_vector(const vector sum, const vector bias, const int relu) {
  const vector value = sum + bias;
  return relu ? select(value, (vector)(0), value < (vector)(0)) : value;
}

// Stores `count` results for `channels` output channels, columns one result apart.
static inline void store_results(__global real *output, const real *results, const int count, const int channels,
                                 const Product *product) {
  if (product->target_channel == 1 && channels == PANEL) {
    for (int p = 0; p < count; ++p) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        STORE_VECTOR(LOAD_VECTOR(v, results + p * PANEL), v, output + p * product->target_pixel);
      }
    }
  } else {
    for (int o = 0; o < channels; ++o) {
      for (int p = 0; p < count; ++p) {
        output[o * product->target_channel + p * product->target_pixel] = results[p * PANEL + o];
      }
    }
  }
}

// One tile. `first` and `second`: the pixels under the filter's corner for both halves.
static inline void compute_tile(__global const real *first, __global const real *second, const long step,
                                __global const real *weights, __global const int *offsets, const long steps,
                                __global const real *bias, __global real *output, const int count,
                                const int channels, const int relu, const Product *product) {
  vector sums[2 * HALF][VECTORS];
#pragma unroll
  for (int p = 0; p < 2 * HALF; ++p) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sums[p][v] = (vector)(0);
  }
  for (long k = 0; k < steps; ++k) {
    const long offset = offsets[k];
    vector row[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) row[v] = LOAD_VECTOR(v, weights);
    weights += PANEL;
#pragma unroll
    for (int p = 0; p < HALF; ++p) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        sums[p][v] += (vector)(first[offset + p * step]) * row[v];
        sums[HALF + p][v] += (vector)(second[offset + p * step]) * row[v];
      }
    }
  }

  vector channel_bias[VECTORS];
  real of_channel[PANEL];
  for (int o = 0; o < PANEL; ++o) of_channel[o] = bias && o < channels ? bias[o] : 0;
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) channel_bias[v] = LOAD_VECTOR(v, of_channel);
  real results[2 * HALF * PANEL];
  if (product->pooled) {
#pragma unroll
    for (int p = 0; p < HALF; p += 2) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        const vector most = larger_of(larger_of(sums[p][v], sums[p + 1][v]),
                                      larger_of(sums[HALF + p][v], sums[HALF + p + 1][v]));
        STORE_VECTOR(finished_vector(most, channel_bias[v], relu), p / 2 * VECTORS + v, results);
      }
    }
  } else {
#pragma unroll
    for (int p = 0; p < 2 * HALF; ++p) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        STORE_VECTOR(finished_vector(sums[p][v], channel_bias[v], relu), p * VECTORS + v, results);
      }
    }
  }
  store_results(output, results, count, channels, product);
}

// Groups: runs of tiles along a row first, then rows, then images, which use the same panel of weights; then panels, then
// parts of the steps.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void cnn_layer_implicit_gemm_panels(
    CNN_LAYER_OPERANDS, const Layer layer, const Product product, const Rows rows) {
  const long runs = quotient(rows.tiles_of_row + rows.tiles_of_group - 1, rows.tiles_of_group);
  const long group = (long)get_group_id(0);
  const long line = quotient(group, runs);
  const long first_tile = (group - line * runs) * rows.tiles_of_group;
  const long plane = quotient(line, rows.rows);
  const long row = line - plane * rows.rows;
  const long stack = quotient(plane, layer.batch);
  const long image = plane - stack * layer.batch;
  const long part = quotient(stack, product.channel_blocks);
  const long panel = stack - part * product.channel_blocks;
  const long first_step = part * product.part_steps;
  const long steps = min(product.part_steps, product.steps - first_step);

  const long outputs_of_tile = product.pooled ? HALF / 2 : 2 * HALF;
  const long step = rows.sum_step;
  const long to_second = product.pooled ? rows.row_step : HALF * step;
  const long sums_of_output = product.pooled ? 2 : 1;
  const long first_channel = panel * PANEL;
  const int channels = (int)min((long)PANEL, layer.output_channels - first_channel);
  __global const real *const pixels =
      input + input_first + image * rows.image_step + row * sums_of_output * rows.row_step;
  weights += weights_first;
  __global const int *const places = PLACES_BEHIND(weights, product, product.channel_blocks) + first_step;
  __global const real *const panel_from = weights + (panel * product.padded_steps + first_step) * PANEL;
  __global const real *const bias_from =
      layer.has_bias && !product.is_part ? bias + bias_first + first_channel : (__global const real *)0;
  output += output_first + part * product.target_part + image * product.target_image +
            first_channel * product.target_channel + row * product.row_windows * product.target_pixel;
  const long last_start = max(0L, product.row_windows - outputs_of_tile);
  const int count = (int)min(outputs_of_tile, product.row_windows);
  const long end_tile = min(rows.tiles_of_row, first_tile + rows.tiles_of_group);
  for (long tile = first_tile; tile < end_tile; ++tile) {
    const long start = min(tile * outputs_of_tile, last_start);
    __global const real *const first = pixels + start * sums_of_output * step;
    compute_tile(first, first + to_second, step, panel_from, places, steps, bias_from,
                 output + start * product.target_pixel, count, channels, layer.relu && !product.is_part, &product);
  }
}
