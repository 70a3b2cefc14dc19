// cnn_layer, winograd_split: pixels are transformed straight into the panels that tensor cores multiply, and beside that
// tiles in doubt are found. Options: those of cnn_layer_winograd_patch.cl and cnn_layer_winograd_doubt.cl with WIDTH 1 and
// ITEMS 256; TILE_N, rows of panels that lie together; WARP_GROUPS, 0 or how many of them will multiply; NVIDIA, 1 where its
// instructions are to be had.
//
//   16 tiles x 16 channels, a work-item each    local memory                  panels (gemm_split_panels.cl)
//   read a patch, transform it, multiply it     a word for each point, tile   for each point a block: 16 rows, which are
//   by the tile's power of two, split each  ->  and channel: two of fp16  ->  tiles, by 16 steps of k, which are channels;
//   number into two of fp16                                                   what was rounded, then what that left
//
// Channels of a tile are added up, so they share one power of two, which every group finds for its own tiles. Local memory
// has room for half of the points of an 8 x 8 patch at once, so that more groups fit side by side. The first groups tell
// which tiles are in doubt, a work-item for each row of a tile's outputs: a launch of its own would cost more.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=1 -DITEMS=256 -DGROWTH_MATRIX=1.0f -DINPUT_MATRIX=1.0f -DINPUT_PAIRS=42 -DTILE_N=128 -DWARP_GROUPS=2 -DNVIDIA=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=256 -DGROWTH_MATRIX=1.0f -DINPUT_MATRIX=1.0f -DINPUT_PAIRS=2 -DTILE_N=64 -DWARP_GROUPS=0 -DNVIDIA=1
#include "ops/cnn_layer/cnn_layer_winograd_doubt.cl"
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
#define DOUBT_TILES (ITEMS / OUTPUTS)  // of a group that tells doubts
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

// The largest of what work-items of the group found: number `item` of `parts` numbers, and every `step`-th after it.
static inline float largest_of(__local const float *parts, const int item, const int step) {
  float largest = 0;
  for (int i = item; i < ITEMS; i += step) largest = fmax(largest, parts[i]);
  return largest;
}

// Of the patch at `place`, every BLOCK-th pixel from number `first` on: the largest magnitude.
static inline float largest_magnitude(__global const float *plane, const Place place, const Layer *layer,
                                      const int first) {
  const int y0 = place.y - (int)layer->padding;
  const int x0 = place.x - (int)layer->padding;
  float largest = 0;
#pragma unroll
  for (int begin = 0; begin < ALL_POINTS; begin += BLOCK) {
    const int i = begin + first;
    const int y = y0 + i / POINTS;
    const int x = x0 + i % POINTS;
    const int is_pixel = i < ALL_POINTS && (uint)y < (uint)layer->height && (uint)x < (uint)layer->width;
    if (is_pixel) largest = fmax(largest, plane[y * (int)layer->width + x]);
  }
  return largest;
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void cnn_layer_winograd_split_input(
    __global const float *restrict input, const ulong input_first, __global uchar *restrict workspace,
    const ulong workspace_first, const Layer layer, const Winograd winograd, const long chunk_number) {
  __local uint words[POINTS_AT_ONCE * POINT_WORDS];
  __local float parts[ITEMS];
  const int item = (int)get_local_id(0);
  const int first_image = first_image_of_pass(chunk_number, &winograd);
  const int first_in_pass = first_tile_of_chunk(chunk_number, &winograd);
  const long plane = layer.height * layer.width;
  __global const float *const magnitudes = IN_WORKSPACE(const float, magnitudes_at);

  const int doubt_groups = small_quotient((int)winograd.chunk + DOUBT_TILES - 1, DOUBT_TILES);
  const int group = (int)get_group_id(0) - doubt_groups;
  if (group < 0) {
    const int tile = (int)get_group_id(0) * DOUBT_TILES + item % DOUBT_TILES;
    const Place place = place_of_tile(first_in_pass + tile, first_image, &layer, &winograd);
    float most = 0;
    parts[item] = tile < winograd.chunk && place.image >= 0 &&
                          is_row_in_doubt(item / DOUBT_TILES, magnitudes + (place.image - first_image) * plane, place,
                                          &layer, &winograd, &most)
                      ? 1
                      : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < DOUBT_TILES && tile < winograd.chunk) {
      IN_WORKSPACE(uchar, doubts_at)[first_in_pass + tile] = largest_of(parts, item, DOUBT_TILES) > 0;
    }
    return;
  }

  const int blocks = (int)winograd.leading / BLOCK;
  const int step = small_quotient(group, blocks);
  const int first_tile = (group - step * blocks) * BLOCK;
  const int tile = first_tile + item % BLOCK;
  const int channel = step * BLOCK + item / BLOCK;
  const int in_pass = first_in_pass + tile;
  const Place place = place_of_tile(in_pass, first_image, &layer, &winograd);
  const int is_tile = tile < winograd.chunk && place.image >= 0;
  parts[item] =
      is_tile ? largest_magnitude(magnitudes + (place.image - first_image) * plane, place, &layer, item / BLOCK) : 0;

  float value[ALL_POINTS];
  if (is_tile && channel < layer.input_channels) {
    read_patch(value, input + input_first + place.image * layer.input_image + channel * layer.input_channel, place,
               &layer);
    transform_patch(value);
  } else {
#pragma unroll
    for (int p = 0; p < ALL_POINTS; ++p) value[p] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int shift = shift_of_largest(largest_of(parts, item % BLOCK, BLOCK), &winograd);
  if (step == 0 && item < BLOCK && tile < winograd.chunk) IN_WORKSPACE(int, shifts_at)[in_pass] = shift;
  // Two factors where the power goes beyond what float32 holds.
  const float factor = near_power_of_two(shift);
  if (shift < -126 || shift > 127) {
    const float rest = near_power_of_two(shift - max(-126, min(127, shift)));
#pragma unroll
    for (int p = 0; p < ALL_POINTS; ++p) value[p] *= rest;
  }

  __local uint *const its_words = words + item / BLOCK * CHANNEL_WORDS + item % BLOCK;
  const long matrix_bytes = winograd.input_matrix * (long)sizeof(float);
  const long steps = quotient(winograd.input_matrix, winograd.leading) / BLOCK;
  const long rows_before = (first_tile / TILE_N * steps + step) * TILE_N;
  __global uchar *const panels = IN_WORKSPACE(uchar, transformed_at) + rows_before * (BLOCK_BYTES / BLOCK) +
                                 first_tile % TILE_N * (WARP_GROUPS ? 16 : BLOCK_BYTES / BLOCK);
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
#pragma unroll 1
    for (int i = item; i < POINTS_AT_ONCE * 32; i += ITEMS) {
      const int p = i / 32;
      const int lane = i % 32;
#if WARP_GROUPS
      // A chunk of a row: of each four steps the first two, or the others.
      const int chunk = lane / BLOCK;
      __local const uint *const from = words + p * POINT_WORDS + 2 * chunk * CHANNEL_WORDS + lane % BLOCK;
      uint rounded[4], rest[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const uint first = from[4 * j * CHANNEL_WORDS], second = from[(4 * j + 1) * CHANNEL_WORDS];
        rounded[j] = lower_halves(first, second);
        rest[j] = upper_halves(first, second);
      }
      __global uchar *const to = panels + (begin + p) * matrix_bytes + (chunk * TILE_N + lane % BLOCK) * 16;
      *(__global uint4 *)to = (uint4)(rounded[0], rounded[1], rounded[2], rounded[3]);
      *(__global uint4 *)(to + TILE_N * 32) = (uint4)(rest[0], rest[1], rest[2], rest[3]);
#else
      // Lane 4 g + t of a block has rows g and g + 8 of steps 4 t .. 4 t + 3.
      __local const uint *const from = words + p * POINT_WORDS + lane % 4 * 4 * CHANNEL_WORDS + lane / 4;
      const uint4 upper = (uint4)(from[0], from[CHANNEL_WORDS], from[2 * CHANNEL_WORDS], from[3 * CHANNEL_WORDS]);
      const uint4 lower = (uint4)(from[8], from[CHANNEL_WORDS + 8], from[2 * CHANNEL_WORDS + 8],
                                  from[3 * CHANNEL_WORDS + 8]);
      __global uchar *const to = panels + (begin + p) * matrix_bytes + lane * 16;
      *(__global uint4 *)to = (uint4)(lower_halves(upper.x, upper.y), lower_halves(upper.z, upper.w),
                                      lower_halves(lower.x, lower.y), lower_halves(lower.z, lower.w));
      *(__global uint4 *)(to + BLOCK_BYTES / 2) = (uint4)(upper_halves(upper.x, upper.y), upper_halves(upper.z, upper.w),
                                                          upper_halves(lower.x, lower.y), upper_halves(lower.z, lower.w));
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the next words overwrite what is read
  }
}
