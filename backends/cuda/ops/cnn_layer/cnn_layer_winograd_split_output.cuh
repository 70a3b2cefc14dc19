// cnn_layer, winograd_split: products are transformed back from the form in which the tensor cores leave them, blocks
// of 16 output channels by 8 tiles (cnn_layer_winograd_split_arguments.h): of all points, or of the columns of each row
// of outputs, where they are transformed down already.
#pragma once

#include "cuda_split_elements.cuh"
#include "ops/cnn_layer/cnn_layer_winograd.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_split_arguments.h"

namespace tessera::cuda {

/// A tile of sums from products that are transformed down already.
template <class Form>
__device__ __forceinline__ void transform_tile_across(const float* products, std::int64_t matrix, float* result) {
  constexpr int kColumns = Form::kPointsX;
  float row[Form::kOutputsY * kColumns];
#pragma unroll
  for (int i = 0; i < Form::kOutputsY * kColumns; ++i) row[i] = products[i * matrix];
#pragma unroll
  for (int y = 0; y < Form::kOutputsY; ++y) {
    transform_products<Form::kOutputsX, Form::kTaps, 1>(row + y * kColumns, result + y * Form::kOutputsX);
  }
}

/// A group takes a block of products, a thread each of them; of all points, or of rows of outputs.
template <class Form, bool kIsDown>
__device__ __forceinline__ void transform_blocks_back(const CnnLayerWinogradSplitArguments& arguments) {
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
    float result[Form::kOutputs];
    const float* const products = layer.products + (block * blocks + blockIdx.x) * kCnnLayerWinogradBlock + thread;
    if constexpr (kIsDown) {
      transform_tile_across<Form>(products, arguments.matrix_sums, result);
    } else {
      transform_tile<Form>(products, arguments.matrix_sums, result);
    }
#pragma unroll
    for (int i = 0; i < Form::kOutputs; ++i) result[i] = result[i] * factor * rest_of_factor;
    finish_tile<Form>(layer, ~0U, is_there, its_tile, channel, result);
  }
}

template <class Form>
__device__ __forceinline__ void winograd_split_output(const CnnLayerWinogradSplitArguments& arguments) {
  transform_blocks_back<Form, false>(arguments);
}
template <class Form>
__device__ __forceinline__ void winograd_split_across(const CnnLayerWinogradSplitArguments& arguments) {
  transform_blocks_back<Form, true>(arguments);
}

}  // namespace tessera::cuda
