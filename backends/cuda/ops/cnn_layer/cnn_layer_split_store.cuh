// cnn_layer, implicit_gemm_split: what becomes of a tile's sums. They are scaled back, pooled where four columns are a
// window, finished and stored. A sum that may be off by more than the bound allows is in doubt: its output is computed
// anew by its warp, in float32 from pixels and weights as they were, behind all others, when no register holds a sum
// any more. What a sum may be off, and so where doubt begins: docs/decisions/0025 and 0030.
#pragma once

#include "cuda_split_mma_products.cuh"
#include "ops/cnn_layer/cnn_layer_pixel_place.cuh"
#include "ops/cnn_layer/cnn_layer_split_arguments.h"
#include "ops/cnn_layer/cnn_layer_store.cuh"
#include "ops/gemm/gemm_split_scale.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_HAS_SPLIT_MMA)

/// What is known of a tile's column, in shared memory.
struct alignas(16) SplitColumn {
  std::int64_t to;  ///< where its output, or its window's, lies in that of a channel; negative: nowhere
  int shift;
  float doubt;
};

[[nodiscard]] __device__ __forceinline__ std::int64_t place_of_output(const CnnLayerGemmArguments<float>& layer,
                                                                      int column) {
  const int image = column / layer.image_columns;
  const int in_image = column - image * layer.image_columns;
  return image * layer.output_image_stride + (layer.pooled ? in_image / 4 : in_image) * layer.output_pixel_stride;
}

[[nodiscard]] __device__ __forceinline__ float finished_at(const CnnLayerGemmArguments<float>& layer, int row,
                                                           float sum) {
  if (layer.is_part) return sum;
  return finished(sum, layer.bias != nullptr ? layer.bias[row] : 0.0f, layer.relu);
}

/// A sum from pixels and weights as they are, by a warp.
[[nodiscard]] __device__ __forceinline__ float convolved(const CnnLayerSplitArguments& arguments, int row,
                                                         const PixelPlace& place) {
  const CnnLayerGemmArguments<float>& layer = arguments.layer;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int places = layer.filter_height * layer.filter_width;
  const int in_chunk = lane % 4 + lane / 16 * 4;
  const float* const weights = layer.weights + row * layer.weights_stride;
  const float* const input = layer.input + place.image * layer.image_stride;
  float sum = 0;
#pragma unroll 4
  for (int chunk = lane % 16 / 4; chunk < arguments.chunks; chunk += kCnnLayerChunkGroup) {
    const int of_channels = chunk / places;
    const int inside = chunk - of_channels * places;
    const int i = inside / layer.filter_width;
    const int j = inside - i * layer.filter_width;
    const int channel = of_channels * kCnnLayerChunk + in_chunk;
    if (channel >= layer.channels || !place.has(layer, i, j)) continue;
    const std::int64_t pixel = static_cast<std::int64_t>(place.y + i) * layer.width + place.x + j;
    sum = fmaf(weights[chunk / kCnnLayerChunkGroup * 32 + lane],
               input[channel * arguments.channel_stride + pixel * arguments.pixel_stride], sum);
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
  return sum;
}

/// An output by a warp: of this column, or of the window that begins there.
__device__ __noinline__ void compute_output_anew(const CnnLayerSplitArguments& arguments, int row, int column) {
  const CnnLayerGemmArguments<float>& layer = arguments.layer;
  float most = 0;
#pragma unroll 1
  for (int i = 0; i < (layer.pooled ? 4 : 1); ++i) {
    const float sum = convolved(arguments, row, PixelPlace(layer, column + i));
    most = i == 0 ? sum : larger(most, sum);
  }
  if (threadIdx.x % 32 != 0) return;
  layer.output[row * layer.output_channel_stride + place_of_output(layer, column)] = finished_at(layer, row, most);
}

/// The warp's rows of 16, and what of them is in doubt: a bit for each of a lane's outputs, those of row g + 8 from bit
/// 16 on, and of each row two for every 8 columns.
template <SplitMmaShape kShape>
__device__ __forceinline__ unsigned store_rows(const CnnLayerSplitArguments& arguments,
                                               const float (&sum)[4 * kShape.pairs()], const SplitColumn* columns,
                                               int first_row) {
  const CnnLayerGemmArguments<float>& layer = arguments.layer;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned in_doubt = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + lane / 4 + 8 * half;
    const bool is_row = row < layer.outputs;
    const GemmSplitNote note = arguments.row_notes[row];
    float* const channel = layer.output + row * layer.output_channel_stride;
    unsigned doubts = 0;
#pragma unroll
    for (int j = 0; j < kShape.pairs(); ++j) {
      const SplitColumn* const pair = columns + 8 * j + lane % 4 * 2;
      float value[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float found = sum[4 * j + 2 * half + i];
        // Written so that a NaN is in doubt.
        if (is_row && pair[i].to >= 0 && !(fabsf(found) >= note.doubt + pair[i].doubt)) doubts |= 1u << (2 * j + i);
        value[i] = scaled_back(found, note.shift + pair[i].shift);
      }
      if (layer.pooled) {
        const float most = larger(value[0], value[1]);
        const float of_all = larger(most, __shfl_xor_sync(~0u, most, 1));
        // Of the two lanes that hold a window the first stores it for one row, the second for the other.
        if (lane % 2 == half && is_row && pair->to >= 0) channel[pair->to] = finished_at(layer, row, of_all);
      } else if (is_row && pair->to >= 0 && layer.aligned) {
        *reinterpret_cast<float2*>(channel + pair->to) =
            make_float2(finished_at(layer, row, value[0]), finished_at(layer, row, value[1]));
      } else {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (is_row && pair[i].to >= 0) channel[pair[i].to] = finished_at(layer, row, value[i]);
        }
      }
    }
    if (layer.pooled) {
      doubts |= __shfl_xor_sync(~0u, doubts, 1);
      doubts = lane % 2 == half ? (doubts | doubts >> 1) & 0x5555u : 0;
    }
    in_doubt |= doubts << (16 * half);
  }
  return in_doubt;
}

template <SplitMmaShape kShape>
__device__ __forceinline__ void store_split_layer(const CnnLayerSplitArguments& arguments,
                                                  const SplitMmaSums<kShape>& total, SplitColumn* columns,
                                                  int first_row, int first_column) {
  static_assert(kShape.pairs() <= 8, "doubts of a row fit 16 bits");
  const CnnLayerGemmArguments<float>& layer = arguments.layer;
  __syncthreads();  // nobody reads the last stage any more
  for (int i = static_cast<int>(threadIdx.x); i < kShape.tile_n(); i += kShape.threads()) {
    const GemmSplitNote note = arguments.column_notes[first_column + i];
    const bool is_column = first_column + i < layer.columns;
    columns[i] = {is_column ? place_of_output(layer, first_column + i) : -1, note.shift, note.doubt};
  }
  __syncthreads();
  const int warp_row = first_row + split_mma_row<kShape>();
  unsigned in_doubt[kShape.row_blocks];
#pragma unroll
  for (int i = 0; i < kShape.row_blocks; ++i) {
    in_doubt[i] =
        store_rows<kShape>(arguments, total[i], columns + split_mma_column<kShape>(), warp_row + i * kSplitMmaBlock);
  }
  __syncwarp();  // what is stored anew is stored behind
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < kShape.row_blocks; ++i) {
    for (unsigned lanes; (lanes = __ballot_sync(~0u, in_doubt[i] != 0)) != 0;) {
      const int its_lane = __ffs(static_cast<int>(lanes)) - 1;
      const int bit = __ffs(static_cast<int>(__shfl_sync(~0u, in_doubt[i], its_lane))) - 1;
      const int in_group = layer.pooled ? its_lane % 4 / 2 * 4 : its_lane % 4 * 2 + bit % 2;
      compute_output_anew(arguments, warp_row + i * kSplitMmaBlock + its_lane / 4 + bit / 16 * 8,
                          first_column + split_mma_column<kShape>() + bit % 16 / 2 * 8 + in_group);
      if (lane == its_lane) in_doubt[i] &= in_doubt[i] - 1;
    }
  }
}

#endif  // TESSERA_CUDA_HAS_SPLIT_MMA

}  // namespace tessera::cuda
