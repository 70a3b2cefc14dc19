// cnn_layer, winograd_split: pixels are transformed into the form in which the tensor cores multiply them, and products
// back from the form in which they leave them.
//
//   16 tiles x 8 channels, a thread each        shared memory                 panels (cuda_split_shape.h)
//   read a patch, transform it, multiply it     a word for each point, tile   16 rows x 16 bytes of what was
//   by the tile's power of two, split each  ->  and channel: two of fp16  ->  rounded, and as much of what rounding
//   number into two of fp16                                                   left, for each point
//
// Channels of a tile are added up, so they share one power of two. It follows from the largest of the patch's
// magnitudes (each pixel's sum over the channels), which no transformed pixel exceeds by more than the transform's
// growth. A number far below that bound loses its last bits, and what that adds to a sum's error counts as doubt
// (CnnLayerWinogradArguments::doubt_of_largest; docs/decisions/0026).
#pragma once

#include "cuda_split_elements.cuh"
#include "ops/cnn_layer/cnn_layer_winograd.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_split_arguments.h"
#include "ops/gemm/gemm_split_products.cuh"

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
  // Points whose words are in shared memory at once: the less it holds, the more patches stay in the first-level cache.
  constexpr int kPoints = n == 8 ? 32 : n * n;
  // Half the banks further for each point, so that two points' words are read at once.
  constexpr int kPointWords = kTiles * kChannels + 16;
  __shared__ unsigned words[kPoints * kPointWords];
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
    float value[n * n]{};
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
      if (blockIdx.y == 1 && thread < kTiles) arguments.shifts[first + thread] = shifts[thread];
    }
    const int shift = shifts[its_tile];
    // Two factors where the power goes beyond what float32 holds.
    const int half = max(-126, min(127, shift));
    const float factor = power_of_two(half);
    if (shift != half) {
      const float rest_of_factor = power_of_two(max(-126, min(127, shift - half)));
#pragma unroll
      for (int p = 0; p < n * n; ++p) value[p] *= rest_of_factor;
    }
    const int plane_bytes = arguments.block_rows * kSplitPlane * 2;
    const std::int64_t row_of_blocks = std::int64_t{arguments.panels_of_k} * kSplitRowBytes;
    unsigned char* const place_of_group =
        arguments.panels + (first - first % arguments.block_rows) * row_of_blocks +
        chunk / (kSplitPlane / kChannels) * (kSplitPlanes * plane_bytes) +
        (chunk % (kSplitPlane / kChannels) * arguments.block_rows + first % arguments.block_rows) * 16;
    const std::int64_t matrix_bytes = arguments.matrix_rows * row_of_blocks;
#pragma unroll
    for (int begin = 0; begin < n * n; begin += kPoints) {
#pragma unroll
      for (int p = 0; p < kPoints; p += 2) {
        __half2 rounded, rest;
        split_pair(value[begin + p] * factor, value[begin + p + 1] * factor, rounded, rest);
        const __half2 of_first = __lows2half2(rounded, rest), of_second = __highs2half2(rounded, rest);
        words[p * kPointWords + thread] = *reinterpret_cast<const unsigned*>(&of_first);
        words[(p + 1) * kPointWords + thread] = *reinterpret_cast<const unsigned*>(&of_second);
      }
      __syncthreads();
#pragma unroll 1
      for (int i = thread; i < kPoints * kTiles; i += kCnnLayerWinogradThreads) {
        const unsigned* const from = words + i / kTiles * kPointWords + i % kTiles;
        unsigned rounded[4], left[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const unsigned lower = from[2 * j * kTiles], upper = from[(2 * j + 1) * kTiles];
          rounded[j] = __byte_perm(lower, upper, 0x5410);
          left[j] = __byte_perm(lower, upper, 0x7632);
        }
        const int p = begin + i / kTiles;
        unsigned char* const its_place = place_of_group + p * matrix_bytes + i % kTiles * 16;
        *reinterpret_cast<uint4*>(its_place) = make_uint4(rounded[0], rounded[1], rounded[2], rounded[3]);
        *reinterpret_cast<uint4*>(its_place + plane_bytes) = make_uint4(left[0], left[1], left[2], left[3]);
      }
      __syncthreads();  // the next words overwrite what is read
    }
  }
}

#if defined(TESSERA_CUDA_IS_HOPPER)

/// What becomes of a tile's sums: those of an output channel are divided by the power of two of its weights, and that
/// of the pixels is left to the transform back, which is linear.
class StoreProducts {
 public:
  __device__ __forceinline__ StoreProducts(const GemmSplitArguments& gemm, const SplitTile& tile,
                                           std::int64_t first_row, std::int64_t first_column)
      : gemm_(gemm), first_row_(first_row), first_column_(first_column) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t blocks = gemm.ldc / kCnnLayerWinogradBlockTiles;
    place_ = gemm.c + tile.matrix * gemm.stride_c + lane * 4 +
             (first_row / kCnnLayerWinogradBlockOutputs * blocks + first_column / kCnnLayerWinogradBlockTiles) *
                 kCnnLayerWinogradBlock;
    notes_ = gemm.a_notes + tile.matrix * gemm.a_matrix_rows + first_row + lane / 4;
  }

  template <int kSums>
  __device__ __forceinline__ void operator()(const float (&sum)[kSums], int block_m) const {
    const int rows = block_m * kSplitGroups * kSplitRows;
    if (first_row_ + rows >= gemm_.m) return;
    float* const place = place_ + rows * gemm_.ldc;
    const int upper = notes_[rows].shift, lower = notes_[rows + 8].shift;
    // Two factors, because the power goes beyond what float32 holds.
    const float upper_factor = near_power_of_two(-upper), lower_factor = near_power_of_two(-lower);
    const float upper_rest = near_power_of_two(-upper - max(-126, min(127, -upper)));
    const float lower_rest = near_power_of_two(-lower - max(-126, min(127, -lower)));
#pragma unroll
    for (int j = 0; j < kSums / 4; ++j) {
      if (first_column_ + j * kCnnLayerWinogradBlockTiles >= gemm_.n) return;
      __stcs(reinterpret_cast<float4*>(place + j * kCnnLayerWinogradBlock),
             make_float4(sum[4 * j] * upper_factor * upper_rest, sum[4 * j + 1] * upper_factor * upper_rest,
                         sum[4 * j + 2] * lower_factor * lower_rest, sum[4 * j + 3] * lower_factor * lower_rest));
    }
  }

 private:
  const GemmSplitArguments& gemm_;
  std::int64_t first_row_, first_column_;
  float* place_;
  const GemmSplitNote* notes_;
};

#else
class StoreProducts;
#endif  // TESSERA_CUDA_IS_HOPPER

/// A group takes a block of products, a thread each of them.
template <int kOutputs, int kFilter>
__device__ __forceinline__ void winograd_split_output(const CnnLayerWinogradSplitArguments& arguments) {
  constexpr int kBlockOutputs = kCnnLayerWinogradBlockOutputs, kBlockTiles = kCnnLayerWinogradBlockTiles;
  static_assert(kCnnLayerWinogradBlock == kCnnLayerWinogradThreads);
  const CnnLayerWinogradArguments& layer = arguments.layer;
  let_next_kernel_start();
  wait_for_kernel_before();
  const int thread = static_cast<int>(threadIdx.x);
  const int part = thread % 4;  // of the four sums of a lane
  const int tile = static_cast<int>(blockIdx.x) * kBlockTiles + thread / 4 % 4 * 2 + part % 2;
  const int in_block = thread / 16 + part / 2 * 8;
  const std::int64_t blocks = arguments.matrix_rows / kBlockTiles;
  const int its_tile = min(tile, layer.tiles - 1);
  const int shift = arguments.shifts[its_tile];
  const int half = max(-126, min(127, -shift));
  const float factor = power_of_two(half);
  const float rest_of_factor = power_of_two(max(-126, min(127, -shift - half)));
  const int channel_blocks = (layer.outputs + kBlockOutputs - 1) / kBlockOutputs;
  for (int block = static_cast<int>(blockIdx.y); block < channel_blocks; block += static_cast<int>(gridDim.y)) {
    const int channel = block * kBlockOutputs + in_block;
    const bool is_there = tile < layer.tiles && channel < layer.outputs;
    float result[kOutputs * kOutputs];
    transform_tile<kOutputs, kFilter>(layer.products + (block * blocks + blockIdx.x) * kCnnLayerWinogradBlock + thread,
                                      arguments.matrix_sums, result);
#pragma unroll
    for (int i = 0; i < kOutputs * kOutputs; ++i) result[i] = result[i] * factor * rest_of_factor;
    finish_tile<kOutputs, kFilter>(layer, ~0U, is_there, its_tile, channel, result);
  }
}

}  // namespace tessera::cuda
