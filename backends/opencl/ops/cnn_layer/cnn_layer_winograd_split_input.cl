// cnn_layer, winograd_split: pixels are transformed straight into the panels that tensor cores multiply. Options: those of
// cnn_layer_winograd_patch.cl with WIDTH 1 and ITEMS 256; TILE_N, rows of panels that lie together; NVIDIA, 1 where its
// instructions are to be had.
//
//   16 tiles x 16 channels, a work-item each    local memory                  panels (gemm_split_panels.cl)
//   read a patch, transform it, multiply it     a word for each point, tile   for each point a block: 16 rows, which are
//   by the tile's power of two, split each  ->  and channel: two of fp16  ->  tiles, by 16 steps of k, which are channels;
//   number into two of fp16                                                   what was rounded, then what that left
//
// Channels of a tile are added up, so they share one power of two (cnn_layer_winograd_doubts.cl). Local memory has room for
// half of the points of an 8 x 8 patch at once, so that more groups fit side by side.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=1 -DITEMS=256 -DINPUT_MATRIX=1.0f -DINPUT_PAIRS=42 -DTILE_N=128 -DNVIDIA=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=256 -DINPUT_MATRIX=1.0f -DINPUT_PAIRS=2 -DTILE_N=64 -DNVIDIA=1
#include "ops/cnn_layer/cnn_layer_winograd_patch.cl"
#include "ops/gemm/gemm_split_halves.cl"
#include "ops/gemm/gemm_split_scale.cl"

#define BLOCK 16
#define BLOCK_BYTES 1024
#define ALL_POINTS (POINTS * POINTS)
#define POINTS_AT_ONCE (POINTS == 8 ? 32 : ALL_POINTS)
// Words from one channel to the next, so that lanes that read four channels of eight tiles each meet in no bank.
#define CHANNEL_WORDS (BLOCK + 2)
#define POINT_WORDS (BLOCK * CHANNEL_WORDS)
#if WIDTH != 1 || ITEMS != BLOCK * BLOCK || ALL_POINTS % POINTS_AT_ONCE != 0
#error "no such group"
#endif

// Two words, of which one has the lower and one the upper halves, as one.
static inline uint lower_halves(const uint first, const uint second) {
  return (first & 0xffffu) | second << 16;
}
static inline uint upper_halves(const uint first, const uint second) {
  return first >> 16 | (second & 0xffff0000u);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void cnn_layer_winograd_split_input(
    __global const float *restrict input, const ulong input_first, __global const int *restrict shifts,
    const ulong shifts_first, __global uchar *restrict panels, const ulong panels_first, const Layer layer,
    const Winograd winograd, const long chunk_number) {
  __local uint words[POINTS_AT_ONCE * POINT_WORDS];
  const int item = (int)get_local_id(0);
  const int group = (int)get_group_id(0);
  const int blocks = (int)winograd.leading / BLOCK;
  const int step = small_quotient(group, blocks);
  const int first_tile = (group - step * blocks) * BLOCK;
  const int tile = first_tile + item % BLOCK;
  const int channel = step * BLOCK + item / BLOCK;
  const int in_pass = first_tile_of_chunk(chunk_number, &winograd) + tile;
  const Place place = place_of_tile(in_pass, first_image_of_pass(chunk_number, &winograd), &layer, &winograd);

  float value[ALL_POINTS];
  float factor = 1;
  if (tile < winograd.chunk && place.image >= 0 && channel < layer.input_channels) {
    read_patch(value, input + input_first + place.image * layer.input_image + channel * layer.input_channel, place,
               &layer);
    transform_patch(value);
    // Two factors where the power goes beyond what float32 holds.
    const int shift = shifts[shifts_first + in_pass];
    factor = near_power_of_two(shift);
    if (shift < -126 || shift > 127) {
      const float rest = near_power_of_two(shift - max(-126, min(127, shift)));
#pragma unroll
      for (int p = 0; p < ALL_POINTS; ++p) value[p] *= rest;
    }
  } else {
#pragma unroll
    for (int p = 0; p < ALL_POINTS; ++p) value[p] = 0;
  }

  __local uint *const its_words = words + item / BLOCK * CHANNEL_WORDS + item % BLOCK;
  const long matrix_bytes = winograd.input_matrix * (long)sizeof(float);
  const long steps = quotient(winograd.input_matrix, winograd.leading) / BLOCK;
  panels += panels_first + (first_tile / TILE_N * TILE_N * steps + step * TILE_N + first_tile % TILE_N) * (BLOCK_BYTES / BLOCK);
#pragma unroll
  for (int begin = 0; begin < ALL_POINTS; begin += POINTS_AT_ONCE) {
#pragma unroll
    for (int p = 0; p < POINTS_AT_ONCE; p += 2) {
      const float2 scaled = (float2)(value[begin + p], value[begin + p + 1]) * factor;
      const uint rounded = to_halves(scaled);
      const uint rest = to_halves(scaled - of_halves(rounded));
      its_words[p * POINT_WORDS] = lower_halves(rounded, rest);
      its_words[(p + 1) * POINT_WORDS] = upper_halves(rounded, rest);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Lane 4 g + t of a block has rows g and g + 8 of steps 4 t .. 4 t + 3.
#pragma unroll 1
    for (int i = item; i < POINTS_AT_ONCE * 32; i += ITEMS) {
      const int p = i / 32;
      const int lane = i % 32;
      __local const uint *const from = words + p * POINT_WORDS + lane % 4 * 4 * CHANNEL_WORDS + lane / 4;
      const uint4 upper = (uint4)(from[0], from[CHANNEL_WORDS], from[2 * CHANNEL_WORDS], from[3 * CHANNEL_WORDS]);
      const uint4 lower = (uint4)(from[8], from[CHANNEL_WORDS + 8], from[2 * CHANNEL_WORDS + 8],
                                  from[3 * CHANNEL_WORDS + 8]);
      __global uchar *const to = panels + (begin + p) * matrix_bytes + lane * 16;
      *(__global uint4 *)to = (uint4)(lower_halves(upper.x, upper.y), lower_halves(upper.z, upper.w),
                                      lower_halves(lower.x, lower.y), lower_halves(lower.z, lower.w));
      *(__global uint4 *)(to + BLOCK_BYTES / 2) = (uint4)(upper_halves(upper.x, upper.y), upper_halves(upper.z, upper.w),
                                                          upper_halves(lower.x, lower.y), upper_halves(lower.z, lower.w));
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the next words overwrite what is read
  }
}
