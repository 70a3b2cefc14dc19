// cnn_layer, winograd: transforms a chunk's products back, with bias, ReLU and a 2 x 2 pool within the tile. Options: those
// of cnn_layer_winograd_tiles.cl; OUTPUT_MATRIX, its numbers row by row; OUTPUT_PAIRS, in which bit i says that columns i
// and i + 1 differ in the sign of their odd rows; BLOCKS, 1 where products come from cnn_layer_winograd_split_products.cl.
//
//   products             output                 One work-item, WIDTH tiles of an output channel at a time, in registers.
//   for each point       +-------+              Neighbours take neighbouring tiles; with BLOCKS, a group takes what a warp
//   +---------+          | m x m |  bias,       left in one piece: 16 output channels by 8 tiles, of which work-item
//   | outputs | A'MA ->  | of a  |  ReLU, pool  4 (4 g + t) + i has number i of lane 4 g + t.
//   | x tiles |          | plane |
//   +---------+          +-------+
//
// What is not finite, and what pixels outside of a window may have spoiled, must not spread to all outputs of a tile: such
// tiles are computed anew from pixels and weights as they are, by all work-items of the group together.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1 -DOUTPUT_MATRIX=1.0f -DOUTPUT_PAIRS=42 -DBLOCKS=0
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128 -DOUTPUT_MATRIX=1.0 -DOUTPUT_PAIRS=2 -DBLOCKS=0
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=2 -DFILTER=5 -DWIDTH=1 -DITEMS=128 -DOUTPUT_MATRIX=1.0f -DOUTPUT_PAIRS=2 -DBLOCKS=1
#include "ops/cnn_layer/cnn_layer_winograd_tiles.cl"
#include "ops/gemm/gemm_split_scale.cl"

#define BLOCK_OUTPUTS 16
#define BLOCK_TILES 8

__constant real output_matrix[OUTPUTS][POINTS] = {OUTPUT_MATRIX};

// to[k] = sum over i of output_matrix[k][i] * from[i], with elements `step` apart in `to`.
static inline void transform_products(const vector *from, vector *to, const int step) {
#pragma unroll
  for (int k = 0; k < OUTPUTS; ++k) {
    vector sum = (vector)(-(real)0);
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
      if (i == 0 || (OUTPUT_PAIRS >> (i - 1) & 1) == 0) {
        vector both = from[i];
        if ((OUTPUT_PAIRS >> i & 1) != 0) both = k % 2 == 0 ? from[i] + from[i + 1] : from[i] - from[i + 1];
        sum = with_multiple(sum, output_matrix[k][i], both);
      }
    }
    to[k * step] = sum;
  }
}

// A tile of sums from its products, of which those of a point lie `matrix` after those of the point before.
static inline void transform_tile(__global const real *products, const long matrix, vector result[OUTPUTS * OUTPUTS]) {
  vector columns_done[OUTPUTS * POINTS];
#pragma unroll
  for (int x = 0; x < POINTS; ++x) {
    vector value[POINTS];
#pragma unroll
    for (int y = 0; y < POINTS; ++y) value[y] = LOAD_VECTOR(0, products + (y * POINTS + x) * matrix);
    transform_products(value, columns_done + x, POINTS);
  }
#pragma unroll
  for (int y = 0; y < OUTPUTS; ++y) transform_products(columns_done + y * POINTS, result + y * OUTPUTS, 1);
}

// What all of a launch's tiles share.
typedef struct {
  __global const real *input;
  __global const real *weights;  // as they were given
  __global const real *bias;
  __global real *output;
  int first_image;  // that the output begins with
} Surroundings;

// Stores what became of a sum, or of a window's largest, if row y and column x of the channel are an output.
static inline void store_output(const Surroundings *all, const Layer *layer, const Winograd *winograd, const int image,
                                const int channel, const int y, const int x, const real sum) {
  const int width = (int)winograd->target_width;
  if (y >= winograd->target_height || x >= width) return;
  const int is_finished = !winograd->is_part;
  __global real *const plane =
      all->output + (image - all->first_image) * winograd->target_image + channel * winograd->target_channel;
  plane[(y * width + x) * winograd->target_pixel] =
      finished(sum, is_finished && layer->has_bias ? all->bias[channel] : 0, is_finished && layer->relu);
}

// Stores the outputs of a tile from its sums, which lie WIDTH apart.
static inline void store_tile(const Surroundings *all, const Layer *layer, const Winograd *winograd, const Place place,
                              const int channel, const real *sums) {
  if (winograd->pooled) {
#pragma unroll
    for (int y = 0; y < OUTPUTS; y += 2) {
#pragma unroll
      for (int x = 0; x < OUTPUTS; x += 2) {
        const real *const window = sums + (y * OUTPUTS + x) * WIDTH;
        store_output(all, layer, winograd, place.image, channel, (place.y + y) / 2, (place.x + x) / 2,
                     larger(larger(window[0], window[WIDTH]),
                            larger(window[OUTPUTS * WIDTH], window[(OUTPUTS + 1) * WIDTH])));
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < OUTPUTS * OUTPUTS; ++i) {
      store_output(all, layer, winograd, place.image, channel, place.y + i / OUTPUTS, place.x + i % OUTPUTS,
                   sums[i * WIDTH]);
    }
  }
}

// One sum from pixels and weights as they are: the part of it that is this work-item's, every ITEMS-th product.
static inline real part_of_sum(const Surroundings *all, const Layer *layer, const int image, const int channel,
                               const int y, const int x, const int item) {
  __global const real *const pixels = all->input + image * layer->input_image;
  const int products = (int)layer->input_channels * (FILTER * FILTER);
  __global const real *const weights = all->weights + (long)channel * products;
  real sum = 0;
  for (int k = item; k < products; k += ITEMS) {
    const int input_channel = k / (FILTER * FILTER);
    const int place = k - input_channel * (FILTER * FILTER);
    const int input_y = y - (int)layer->padding + place / FILTER;
    const int input_x = x - (int)layer->padding + place % FILTER;
    if (input_y >= 0 && input_y < layer->height && input_x >= 0 && input_x < layer->width) {
      sum += weights[k] * pixels[input_channel * layer->input_channel +
                                 (input_y * layer->width + input_x) * layer->input_pixel];
    }
  }
  return sum;
}

#if ITEMS > 1
// What a group's work-items tell each other.
typedef struct {
  uint count;
  int anew[ITEMS];  // work-items whose tiles are computed anew
  real parts[ITEMS];
} Shared;

// The sum of all work-items' parts, for each of them, in an order that is always the same.
static inline real sum_of_parts(__local real *parts, const int item, const real part) {
  parts[item] = part;
  for (int apart = ITEMS / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < apart) parts[item] += parts[item + apart];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const real sum = parts[0];
  barrier(CLK_LOCAL_MEM_FENCE);  // the next parts overwrite it
  return sum;
}
#define SUM_OF_PARTS(part) sum_of_parts(parts, item, part)
#else
#define SUM_OF_PARTS(part) (part)
#endif

// The outputs of a tile without the transforms, by a whole group.
static inline void convolve_tile(const Surroundings *all, const Layer *layer, const Winograd *winograd, const Place place,
                                 const int channel, __local real *parts, const int item) {
  const int halved = winograd->pooled ? 1 : 0;  // outputs are windows of 2 x 2, else single sums
  for (int window = 0; window < OUTPUTS * OUTPUTS >> 2 * halved; ++window) {
    const int y = place.y + ((window << halved) / OUTPUTS << halved);
    const int x = place.x + (window << halved) % OUTPUTS;
    real most = 0;
    for (int i = 0; i < 1 << 2 * halved; ++i) {
      const real part = part_of_sum(all, layer, place.image, channel, y + (i >> halved), x + (i & halved), item);
      const real sum = SUM_OF_PARTS(part);
      most = i == 0 ? sum : larger(most, sum);
    }
    if (item == 0) store_output(all, layer, winograd, place.image, channel, y >> halved, x >> halved, most);
  }
}

// Where a work-item's tile lies in what its group takes, and its output channel.
#if BLOCKS
static inline int tile_of_item(const int item) {
  return item / 4 % 4 * 2 + item % 2;
}
static inline int output_of_item(const int item) {
  return item / 16 + item % 4 / 2 * 8;
}
#else
static inline int tile_of_item(const int item) {
  return item * WIDTH;
}
static inline int output_of_item(const int item) {
  return 0;
}
#endif
#define TILES_OF_GROUP (BLOCKS ? BLOCK_TILES : GROUP_TILES)
#define OUTPUTS_OF_STEP (BLOCKS ? BLOCK_OUTPUTS : 1)

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void cnn_layer_winograd_output(
    __global const uchar *restrict workspace, const ulong workspace_first, __global const real *restrict input,
    const ulong input_first, __global const real *restrict weights, const ulong weights_first,
    __global const real *restrict bias, const ulong bias_first, __global real *restrict output, const ulong output_first,
    const Layer layer, const Winograd winograd, const long chunk_number) {
#if ITEMS > 1
  __local Shared shared;
#endif
  __global const real *const products = IN_WORKSPACE(const real, products_at);
  __global const uchar *const doubts = IN_WORKSPACE(const uchar, doubts_at);
  const int item = (int)get_local_id(0);
  const int group = (int)get_group_id(0);
  const int blocks = small_quotient((int)winograd.chunk + TILES_OF_GROUP - 1, TILES_OF_GROUP);
  const int block_of_channels = small_quotient(group, blocks);
  const int first_tile = (group - block_of_channels * blocks) * TILES_OF_GROUP;
  const int first_image = first_image_of_pass(chunk_number, &winograd);
  const int first_of_pass = first_tile_of_chunk(chunk_number, &winograd);
  const int tile = first_tile + tile_of_item(item);
  Surroundings all;
  all.input = input + input_first;
  all.weights = weights + weights_first;
  all.bias = bias + bias_first;
  all.output = output + output_first;
  all.first_image = winograd.is_part ? first_image : 0;

  Place places[WIDTH];
  int is_sure[WIDTH];
#pragma unroll
  for (int lane = 0; lane < WIDTH; ++lane) {
    places[lane] = place_of_tile(first_of_pass + tile + lane, first_image, &layer, &winograd);
    if (tile + lane >= winograd.chunk) places[lane].image = -1;
    is_sure[lane] = places[lane].image < 0 || doubts[first_of_pass + tile + lane] == 0;
  }
  const int begin = block_of_channels * (int)winograd.channels_of_group * OUTPUTS_OF_STEP;
  const int end = min(begin + (int)winograd.channels_of_group * OUTPUTS_OF_STEP, (int)layer.output_channels);
  for (int step = begin; step < end; step += OUTPUTS_OF_STEP) {
    const int channel = step + output_of_item(item);
    const int is_there = tile < winograd.leading && channel < layer.output_channels;
    vector result[OUTPUTS * OUTPUTS];
    if (is_there) {
#if BLOCKS
      transform_tile(products +
                         (step / BLOCK_OUTPUTS * (winograd.leading / BLOCK_TILES) + first_tile / BLOCK_TILES) *
                             (BLOCK_OUTPUTS * BLOCK_TILES) +
                         item,
                     winograd.product_matrix, result);
      const int shift = places[0].image < 0 ? 0 : IN_WORKSPACE(const int, shifts_at)[first_of_pass + tile];
#pragma unroll
      for (int i = 0; i < OUTPUTS * OUTPUTS; ++i) result[i] = scaled_back(result[i], shift);
#else
      transform_tile(products + channel * winograd.leading + tile, winograd.product_matrix, result);
#endif
    }
    real sums[OUTPUTS * OUTPUTS * WIDTH];
#pragma unroll
    for (int i = 0; i < OUTPUTS * OUTPUTS; ++i) STORE_VECTOR(result[i], i, sums);
#if ITEMS > 1
    if (item == 0) shared.count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int lane = 0; lane < WIDTH; ++lane) {
      real zero = 0;  // NaN if a sum is not finite
#pragma unroll
      for (int i = 0; i < OUTPUTS * OUTPUTS; ++i) zero += sums[i * WIDTH + lane] * 0;
      if (is_there && places[lane].image >= 0) {
        if (zero == 0 && is_sure[lane]) {
          store_tile(&all, &layer, &winograd, places[lane], channel, sums + lane);
        } else {
#if ITEMS > 1
          shared.anew[atomic_inc(&shared.count)] = item;
#else
          convolve_tile(&all, &layer, &winograd, places[lane], channel, 0, 0);
#endif
        }
      }
    }
#if ITEMS > 1
    barrier(CLK_LOCAL_MEM_FENCE);
    const int count = (int)shared.count;
    for (int i = 0; i < count; ++i) {
      const int its = shared.anew[i];
      const Place place =
          place_of_tile(first_of_pass + first_tile + tile_of_item(its), first_image, &layer, &winograd);
      convolve_tile(&all, &layer, &winograd, place, step + output_of_item(its), shared.parts, item);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the next channel's list overwrites what is read
#endif
  }
}
