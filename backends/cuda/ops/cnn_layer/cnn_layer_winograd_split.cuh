// cnn_layer, winograd_split: pixels are transformed into the form in which the tensor cores multiply them.
//
//   16 tiles x 8 channels, a thread each          shared memory                  panels (cuda_split_shape.h)
//   read a patch, transform it, multiply it by    a word for each point, tile    16 rows x 16 bytes of what was rounded,
//   the tile's power of two, split each number -> and channel: two of fp16   ->  and as much of what rounding left, for
//   into two of fp16                                                             each point
//
// Channels of a tile are added up, so they share one power of two. It follows from the largest of the patch's magnitudes
// (each pixel's sum over the channels), which no transformed pixel exceeds by more than the transform's growth. A number
// far below that bound loses its last bits, and what that adds to a sum's error counts as doubt
// (CnnLayerWinogradArguments::doubt_of_largest).
#pragma once

#include "cuda_split_elements.cuh"
#include "ops/cnn_layer/cnn_layer_winograd.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_split_arguments.h"

namespace tessera::cuda {

/// Which channel is number i of a chunk, as gemm_split_prepare.cuh puts the weights' channels: of 32 of them chunk q
/// holds 4 q .. + 3 and 16 + 4 q .. + 3.
__device__ __forceinline__ int channel_of_chunk(int chunk, int i) {
  return chunk / 4 * 32 + chunk % 4 * 4 + i + i / 4 * 12;
}

/// The power of two for each of a group's tiles, by groups of eight lanes.
template <int kOutputs, int kFilter>
__device__ __forceinline__ void find_shifts(const CnnLayerWinogradSplitArguments& arguments, int first, int* shifts) {
  constexpr int n = kOutputs + kFilter - 1;
  constexpr int kLanes = 8;
  static_assert(n <= kLanes && kCnnLayerWinogradThreads == kLanes * kCnnLayerWinogradSplitTiles);
  const CnnLayerWinogradArguments& layer = arguments.layer;
  const int its = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  float most = 0;
  if (first + its < layer.tiles && lane < n) {
    const WinogradTile place(layer, first + its);
    const int y0 = place.row * kOutputs - layer.padding;
    const int x = place.column * kOutputs - layer.padding + lane;
    const float* const plane = layer.magnitudes + static_cast<std::int64_t>(place.image) * layer.height * layer.width;
#pragma unroll
    for (int y = 0; y < n; ++y) {
      const bool is_pixel = static_cast<unsigned>(x) < static_cast<unsigned>(layer.width) &&
                            static_cast<unsigned>(y0 + y) < static_cast<unsigned>(layer.height);
      if (is_pixel) most = fmaxf(most, plane[static_cast<std::int64_t>(y0 + y) * layer.width + x]);
    }
  }
  most = largest_of_lanes<kLanes>(most);
  const unsigned bits = __float_as_uint(most);
  // most < 2^(its exponent + 1), so that transformed pixels come to lie below 2^14. Infinite ones are in doubt.
  const bool has_shift = bits != 0 && bits < kInfinityBits;
  if (lane == 0) shifts[its] = has_shift ? shift_of_largest(bits) - 1 - arguments.growth_power : 0;
}

/// The first row of the grid tells which tiles are in doubt, the others transform the channels of a chunk each.
template <int kOutputs, int kFilter>
__device__ __forceinline__ void winograd_split_input(const CnnLayerWinogradSplitArguments& arguments) {
  constexpr int n = kOutputs + kFilter - 1;
  constexpr int kTiles = kCnnLayerWinogradSplitTiles, kChannels = kCnnLayerWinogradSplitChannels;
  static_assert(kTiles * kChannels == kCnnLayerWinogradThreads);
  // Half the banks further for each point, so that two points' words are read at once.
  constexpr int kPointWords = kTiles * kChannels + 16;
  __shared__ unsigned words[n * n * kPointWords];
  __shared__ int shifts[kTiles];
  const CnnLayerWinogradArguments& layer = arguments.layer;
  let_next_kernel_start();
  const int first = static_cast<int>(blockIdx.x) * kTiles;
  if (blockIdx.y == 0) {
    wait_for_kernel_before();
    if (first < layer.tiles) winograd_doubts<kOutputs, kFilter>(layer, first);
    return;
  }
  if (!layer.is_beside_magnitudes) wait_for_kernel_before();
  const int thread = static_cast<int>(threadIdx.x);
  const int its_tile = thread % kTiles;
  const bool has_tile = first + its_tile < layer.tiles;
  const WinogradTile place(layer, has_tile ? first + its_tile : 0);
  bool has_shifts = false;
  const int chunks = arguments.panels_of_k * (kSplitPlane / kChannels);
  for (int chunk = static_cast<int>(blockIdx.y) - 1; chunk < chunks; chunk += static_cast<int>(gridDim.y) - 1) {
    const int channel = channel_of_chunk(chunk, thread / kTiles);
    const bool is_there = has_tile && channel < layer.channels;
    float value[n * n];
    if (is_there) {
      read_patch<kOutputs, kFilter>(layer, place, channel, value);
#pragma unroll
      for (int x = 0; x < n; ++x) transform_pixels<kOutputs, kFilter, n>(value + x);
#pragma unroll
      for (int y = 0; y < n; ++y) transform_pixels<kOutputs, kFilter, 1>(value + y * n);
    }
    if (!has_shifts) {
      if (layer.is_beside_magnitudes) wait_for_kernel_before();
      find_shifts<kOutputs, kFilter>(arguments, first, shifts);
      __syncthreads();
      has_shifts = true;
    }
    const int shift = shifts[its_tile];
    // Two factors, because the power goes beyond what float32 holds.
    const int half = max(-126, min(127, shift));
    const float factor = power_of_two(half);
    const float rest_of_factor = power_of_two(max(-126, min(127, shift - half)));
    unsigned* const to = words + thread;  // number of the channel x tiles + tile
#pragma unroll
    for (int p = 0; p < n * n; ++p) {
      const float x = is_there ? value[p] * factor * rest_of_factor : 0.0F;
      const __half rounded = __float2half_rn(x);
      const __half left = __float2half_rn(x - __half2float(rounded));
      to[p * kPointWords] =
          static_cast<unsigned>(__half_as_ushort(rounded)) | static_cast<unsigned>(__half_as_ushort(left)) << 16;
    }
    __syncthreads();

    const int plane_bytes = arguments.block_rows * kSplitPlane * 2;
    const std::int64_t block_bytes = std::int64_t{arguments.panels_of_k} * (kSplitPlanes * plane_bytes);
    const int in_panel = chunk % (kSplitPlane / kChannels) * arguments.block_rows * 16;
    unsigned char* const panel =
        arguments.panels + chunk / (kSplitPlane / kChannels) * (kSplitPlanes * plane_bytes) + in_panel;
#pragma unroll 1
    for (int i = thread; i < n * n * kTiles; i += kCnnLayerWinogradThreads) {
      const int p = i / kTiles;
      const unsigned* const from = words + p * kPointWords + i % kTiles;
      unsigned rounded[4], left[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const unsigned lower = from[2 * j * kTiles], upper = from[(2 * j + 1) * kTiles];
        rounded[j] = __byte_perm(lower, upper, 0x5410);
        left[j] = __byte_perm(lower, upper, 0x7632);
      }
      const std::int64_t row = p * arguments.matrix_rows + first + i % kTiles;
      unsigned char* const place_of_row =
          panel + row / arguments.block_rows * block_bytes + row % arguments.block_rows * 16;
      *reinterpret_cast<uint4*>(place_of_row) = make_uint4(rounded[0], rounded[1], rounded[2], rounded[3]);
      *reinterpret_cast<uint4*>(place_of_row + plane_bytes) = make_uint4(left[0], left[1], left[2], left[3]);
      if (chunk == 0) arguments.notes[row] = {shifts[i % kTiles], -__uint_as_float(kInfinityBits)};
    }
    __syncthreads();  // the next chunk's words overwrite what is read
  }
}

}  // namespace tessera::cuda
