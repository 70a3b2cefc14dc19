// cnn_layer, implicit_gemm_local: the one for GPUs. See cnn_layer_product.cl and gemm_register_tile.cl.
//
//                        pixels: steps x columns       A work-group computes a block, TILE_M output channels x TILE_N
//                        +----------+-----+            columns, and walks along the steps, DEPTH at a time. A work-item
//                        |          |DEPTH|            computes WORK_M x WORK_N sums in registers. Weights are copied
//                        |          |-----|            in vectors of 16 bytes; of the pixels a work-item gathers those
//   weights:             |          |     |            of one column, COUNT steps: neighbours read neighbouring pixels.
//   outputs x steps      +----------+-----+
//   +---+---+-------     +----------+-----+            The four columns of a window of a 2 x 2 pool are those of one
//   |   |   | ...        |          |block|            work-item, so bias, ReLU and pool are done on sums in registers.
//   +---+---+-------     +----------+-----+
//
// A weight is read columns / TILE_N times from the second-level cache, a pixel filter * filter * outputs / TILE_M
// times, nearly always from the first-level one. Steps split into parts go through the workspace: the group of a block
// that ends last adds them up (JOINED, joined_parts.cl), or cnn_layer_finish.cl, as for other pools.
//
// On NVIDIA's sm_80 and newer, in float32, several steps of tiles are on their way, by copies that pass no register
// (gemm_register_fma_ahead.cl).
//
// Compiles alone with: -DFLOAT64=0 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=2 -DTENSOR_CORES=0
// Compiles alone with: -cl-std=CL3.0 -DFLOAT64=1 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=2 -DSTAGES=2 -DTENSOR_CORES=0 -DJOINED=1
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DTILE_M=32 -DTILE_N=64 -DWORK_M=4 -DWORK_N=4 -DDEPTH=32 -DSLICES=2 -DSTAGES=3 -DTENSOR_CORES=0 -DASYNC=1
// Compiles alone with: -DFLOAT64=1 -DTILE_M=64 -DTILE_N=64 -DWORK_M=8 -DWORK_N=8 -DDEPTH=16 -DSLICES=1 -DSTAGES=2 -DTENSOR_CORES=0
#define A_TURNED 0
#define B_TURNED 0
#define RUN 4
#include "ops/cnn_layer/cnn_layer_implicit_gemm_gather.cl"
#define PLACE_OF_COLUMN(column) PIXEL_OF_COLUMN(column)
#include "ops/gemm/gemm_register_store.cl"

#define A_ROWS_AT_ONCE (ITEMS * V / TILE_M)
#define A_COPIES (TILE_M * DEPTH / (ITEMS * V))
#if !AHEAD
// This work-item's share of the tiles: weights as vectors, and the pixels of one column.
struct Copies {
  vector a[A_COPIES];
  real b[COUNT];
};

#endif

// What the share is of, and where in the tiles it goes.
struct Source {
  Corner corner;
  long last_whole;  // the last step from which on the whole share is there
  int in_vectors;
  int a_x, a_y, b_x, b_y;
  const Layer *layer;
  const Product *product;
};

#if AHEAD
ALWAYS_INLINE void start_tiles(SHARE_POINTERS, const Source *s, __local real *a_tile, __local real *b_tile,
                               const long first_p) {
#pragma unroll
  for (int i = 0; i < A_COPIES; ++i) {
    start_vector_copy(&a_tile[(s->a_y + i * A_ROWS_AT_ONCE) * A_WIDTH + s->a_x],
                      a + i * A_ROWS_AT_ONCE * s->product->panel);
  }
  start_pixels(&b_tile[s->b_y * B_WIDTH + s->b_x], b, s->corner, places, first_p <= s->last_whole, s->layer, s->product);
}
#else
ALWAYS_INLINE void fetch_tiles(Copies *copies, SHARE_POINTERS, const Source *s, const long first_p) {
#pragma unroll
  for (int i = 0; i < A_COPIES; ++i) {
    copies->a[i] = *(__global const vector *)(a + i * A_ROWS_AT_ONCE * s->product->panel);
  }
  gather(copies->b, b, s->corner, places, first_p <= s->last_whole, s->in_vectors, s->layer, s->product);
}

ALWAYS_INLINE void place_tiles(const Copies *copies, const Source *s, __local real *a_tile, __local real *b_tile) {
#pragma unroll
  for (int i = 0; i < A_COPIES; ++i) {
    *(__local vector *)&a_tile[(s->a_y + i * A_ROWS_AT_ONCE) * A_WIDTH + s->a_x] = copies->a[i];
  }
#pragma unroll
  for (int i = 0; i < COUNT; ++i) b_tile[(s->b_y + i) * B_WIDTH + s->b_x] = copies->b[i];
}

#endif

// Stores what four neighbouring columns, in the order of pixels, give for one output channel.
static inline void store_columns(__global real *output, const real bias, const long column, const real *sums,
                                 const int is_plain, const Layer *layer, const Product *product) {
  if (column >= product->columns) return;
  const long image = quotient(column, product->image_columns);
  const long in_image = column - image * product->image_columns;
  __global real *const channel = output + image * product->target_image;
  if (product->pooled) {
    const real most = larger(larger(sums[0], sums[1]), larger(sums[2], sums[3]));
    channel[in_image / 4 * product->target_pixel] = finished(most, bias, layer->relu);
    return;
  }
  const int relu = layer->relu && !product->is_part;
  real results[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) results[i] = finished(sums[i], bias, relu);
  if (is_plain) {
#pragma unroll
    for (int i = 0; i < 4; i += V) *(__global vector *)(channel + in_image + i) = LOAD_VECTOR(0, results + i);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (column + i < product->columns) {
        // Images of a few pixels end within the four.
        const long later = quotient(in_image + i, product->image_columns);
        channel[later * product->target_image +
                (in_image + i - later * product->image_columns) * product->target_pixel] = results[i];
      }
    }
  }
}

// The block of the output, or of sums in the workspace. `is_plain`: its columns lie beside each other, aligned.
struct Results {
  __global real *output;
  __global const real *bias;
  long first_channel;
  long first_column;
  int is_plain;
  const Layer *layer;
  const Product *product;
};

ALWAYS_INLINE int is_inside(const Results *results, const int row, const int column) {
  return results->first_channel + row < results->layer->output_channels &&
         results->first_column + column < results->product->columns;
}

ALWAYS_INLINE void store_run(const Results *results, const int row, const int column, const real *run) {
  const Layer *const layer = results->layer;
  const Product *const product = results->product;
  const long channel = results->first_channel + row;
  if (channel < layer->output_channels) {
    const real channel_bias = layer->has_bias && !product->is_part ? results->bias[channel] : 0;
    store_columns(results->output + channel * product->target_channel, channel_bias,
                  results->first_column + column, run, results->is_plain, layer, product);
  }
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void cnn_layer_implicit_gemm_local(
    CNN_LAYER_OPERANDS WHERE_PARTS_MEET, const Layer layer, const Product product) {
  DECLARE_TILES
  const Share share = share_of_item();
  // Blocks of channels first, which read the same pixels; then columns, then parts of the steps.
  const long group = (long)get_group_id(0);
  const long block = quotient(group, product.channel_blocks);
  const long first_channel = (group - block * product.channel_blocks) * TILE_M;
  const long column_blocks = (product.columns + TILE_N - 1) / TILE_N;
  const long part = quotient(block, column_blocks);
  const long first_column = (block - part * column_blocks) * TILE_N;
  const long first_step = part * product.part_steps;
  const long end_step = min(product.padded_steps, first_step + product.part_steps);

  Source source;
  source.a_x = (int)(share.item % (TILE_M / V)) * V;
  source.a_y = (int)(share.item / (TILE_M / V));
  source.b_x = (int)(share.item % TILE_N);
  source.b_y = (int)(share.item / TILE_N) * COUNT;
  source.corner = corner_of(first_column + PIXEL_OF_COLUMN(source.b_x), layer, product);
  input += input_first;
  weights += weights_first;
  __global const int *const places = PLACES_BEHIND(weights, product, 1) + first_step + source.b_y;
  weights += (first_step + source.a_y) * product.panel + first_channel + source.a_x;
  source.last_whole = product.steps - source.b_y - COUNT;
  source.in_vectors =
      layer.input_channel == 1 && ((input_first | layer.input_image | layer.input_pixel) & (V - 1)) == 0;
  source.layer = &layer;
  source.product = &product;
  real sums[WORK_M][WORK_N];
#if AHEAD
  multiply_tiles(sums, tiles, share, weights, input, places, DEPTH * product.panel, 0, &source, first_step, end_step);
#else
  Copies copies;
  multiply_tiles(sums, tiles, share, weights, input, places, DEPTH * product.panel, 0, &source, &copies, first_step,
                 end_step);
#endif

  const int is_plain =
      product.target_pixel == 1 &&
      ((output_first | product.target_part | product.target_image | product.target_channel | product.image_columns) &
       3) == 0;
  const Results results = {output + output_first + part * product.target_part,
                           bias + bias_first, first_channel, first_column, is_plain, &layer, &product};
#if JOINED
  __local int is_last;
  const long parts = quotient(product.padded_steps + product.part_steps - 1, product.part_steps);
  const long number = group - part * column_blocks * product.channel_blocks;
  const Joint joint = joint_of(sums_of_parts + sums_first, number, part, parts);
  store_tiles(sums, tiles, share, &results, joint);
  if (comes_last(&counters[counters_first + number], parts, &is_last)) store_joined(joint, share, &results);
#else
  store_tiles(sums, tiles, share, &results);
#endif
}
