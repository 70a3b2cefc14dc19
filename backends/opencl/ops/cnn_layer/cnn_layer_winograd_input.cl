// cnn_layer, winograd: transforms the pixels of a chunk of tiles. Options: those of cnn_layer_winograd_patch.cl.
//
//   input                 transformed                   One work-item, WIDTH tiles of one channel at a time: WIDTH is 1
//   +-----------+         for each of n * n points      on GPUs, and as many as a vector register holds on processors.
//   | n x n     |  B'dB   +-------------------+         Neighbours take neighbouring tiles, so that what they write of
//   | pixels of |  ---->  | channels x tiles  |         a matrix lies together. Each pixel is read (n / OUTPUTS)^2
//   | a channel |         +-------------------+         times, mostly from the first-level cache.
//   +-----------+         | ...               |
//
// A group goes through some channels one after the other: on processors, because a group costs as much as some
// transforms. Columns behind the last tile are 0, so that what is multiplied there is no leftover.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1 -DINPUT_MATRIX=1.0f -DINPUT_PAIRS=42
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128 -DINPUT_MATRIX=1.0 -DINPUT_PAIRS=2
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=8 -DITEMS=1 -DINPUT_MATRIX=1.0 -DINPUT_PAIRS=2
#include "ops/cnn_layer/cnn_layer_winograd_patch.cl"

// The patches of WIDTH tiles, wherever they lie; 0 where there is none.
static inline void read_patches(vector value[POINTS * POINTS], __global const real *channel, const Place places[WIDTH],
                                const Layer *layer) {
  real patches[POINTS * POINTS * WIDTH];
  for (int lane = 0; lane < WIDTH; ++lane) {
    if (places[lane].image >= 0) {
      read_patch(patches + lane, channel + places[lane].image * layer->input_image, places[lane], layer);
    } else {
#pragma unroll
      for (int i = 0; i < POINTS * POINTS; ++i) patches[i * WIDTH + lane] = 0;
    }
  }
#pragma unroll
  for (int i = 0; i < POINTS * POINTS; ++i) value[i] = LOAD_VECTOR(i, patches);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void cnn_layer_winograd_input(
    __global const real *restrict input, const ulong input_first, __global real *restrict transformed,
    const ulong transformed_first, const Layer layer, const Winograd winograd, const long chunk_number) {
  const int group = (int)get_group_id(0);
  const int leading = (int)winograd.leading;
  const int blocks = small_quotient(leading + GROUP_TILES - 1, GROUP_TILES);
  const int block_of_channels = small_quotient(group, blocks);
  const int tile = (group - block_of_channels * blocks) * GROUP_TILES + (int)get_local_id(0) * WIDTH;
  if (tile >= leading) return;
  const int first_image = first_image_of_pass(chunk_number, &winograd);
  const int first_tile = first_tile_of_chunk(chunk_number, &winograd);
  Place places[WIDTH];
#pragma unroll
  for (int lane = 0; lane < WIDTH; ++lane) {
    places[lane] = place_of_tile(first_tile + tile + lane, first_image, &layer, &winograd);
    if (tile + lane >= winograd.chunk) places[lane].image = -1;
  }
  const int begin = block_of_channels * (int)winograd.channels_of_group;
  const int end = min(begin + (int)winograd.channels_of_group, (int)layer.input_channels);
#if HAS_RUNS
  const int is_whole_run = is_run(places[0], places[WIDTH - 1], &layer);
#endif
  input += input_first;
  transformed += transformed_first + tile;
  for (int channel = begin; channel < end; ++channel) {
    vector value[POINTS * POINTS];
#if HAS_RUNS
    if (is_whole_run) {
      read_run(value, input + places[0].image * layer.input_image + channel * layer.input_channel, places[0], &layer);
    } else
#endif
    {
      read_patches(value, input + channel * layer.input_channel, places, &layer);
    }
    transform_patch(value);
    __global real *const to = transformed + channel * winograd.leading;
#pragma unroll
    for (int i = 0; i < POINTS * POINTS; ++i) STORE_VECTOR(value[i], 0, to + i * winograd.input_matrix);
  }
}
