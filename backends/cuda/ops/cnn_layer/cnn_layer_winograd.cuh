// cnn_layer, winograd: the transforms, for each form of tiles and filters (WinogradForm).
//
//   input                 transformed                products                   output
//   +-----------+         for each of ny nx points   for each point             +-------+  bias, ReLU,
//   | ny x nx   |  B'dB   +-------------------+      weights * transformed      |my x mx|  a 2 x 2 pool within
//   | pixels of |  ---->  | channels x tiles  | ---> +-------------------+ ---> | of a  |  the tile
//   | a channel |         +-------------------+ gemm | outputs x tiles   | A'MA | plane |
//   +-----------+         | ...               |      | ...               |      +-------+
//                                                          m outputs, n = m + kTaps - 1 points in each direction
//
// A thread transforms one tile of one channel, in registers; neighbouring threads take neighbouring tiles, so that what
// they write and read of a matrix lies together. The products between are gemm's register variant, ny * nx of them in
// one launch. Each pixel is read ny nx / (my mx) times, mostly from L1.
//
// The matrices are those of mathematics/cnn_layer_winograd.h. Weights are transformed in double and rounded once.
#pragma once

#include "ops/cnn_layer/cnn_layer_store.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_arguments.h"
#include "ops/cnn_layer/cnn_layer_winograd_direct.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_transforms.cuh"
#include "ops/gemm/gemm_register_store.cuh"

namespace tessera::cuda {

/// Columns first to first + kColumns - 1 of the patch of a tile of one channel, in registers, those of a row kStep
/// after those of the row before; 0 beyond the image.
template <class Form, int kColumns, int kStep>
__device__ __forceinline__ void read_columns(const CnnLayerWinogradArguments& layer, const WinogradTile& place,
                                             int channel, int first, float* value) {
  const int y0 = place.row * Form::kOutputsY - layer.padding;
  const int x0 = place.column * Form::kOutputsX - layer.padding + first;
  const float* row = layer.input +
                     (static_cast<std::int64_t>(place.image) * layer.channels + channel) * layer.height * layer.width +
                     static_cast<std::int64_t>(y0) * layer.width + x0;
  if (layer.aligned && x0 >= 0 && x0 + kColumns <= layer.width) {
    constexpr int kVector = cnn_layer_winograd_vector(Form::kOutputsX);
#pragma unroll
    for (int y = 0; y < Form::kPointsY; ++y, row += layer.width) {
      const bool is_row = static_cast<unsigned>(y0 + y) < static_cast<unsigned>(layer.height);
#pragma unroll
      for (int x = 0; x < kColumns; x += kVector) {
        const bool is_whole = x + kVector <= kColumns;
        Run<float, kVector> run{};
        if (is_row && is_whole) run = *reinterpret_cast<const Run<float, kVector>*>(row + x);
        if (is_row && !is_whole) {
#pragma unroll
          for (int i = 0; x + i < kColumns; ++i) run.element[i] = row[x + i];
        }
#pragma unroll
        for (int i = 0; i < kVector && x + i < kColumns; ++i) value[y * kStep + x + i] = run.element[i];
      }
    }
    return;
  }
#pragma unroll
  for (int y = 0; y < Form::kPointsY; ++y, row += layer.width) {
    const bool is_row = static_cast<unsigned>(y0 + y) < static_cast<unsigned>(layer.height);
#pragma unroll
    for (int x = 0; x < kColumns; ++x) {
      const bool is_pixel = is_row && static_cast<unsigned>(x0 + x) < static_cast<unsigned>(layer.width);
      value[y * kStep + x] = is_pixel ? row[x] : 0.0F;
    }
  }
}

/// The first rows of the grid tell which tiles are in doubt, the others transform a channel each.
template <class Form>
__device__ __forceinline__ void winograd_input(const CnnLayerWinogradArguments& layer) {
  constexpr int kRows = Form::kPointsY, kColumns = Form::kPointsX;
  constexpr int kDoubtRows = kCnnLayerWinogradDoubtRows;
  let_next_kernel_start();
  const int first = static_cast<int>(blockIdx.x) * kCnnLayerWinogradThreads;
  const int row_of_grid = static_cast<int>(blockIdx.y);
  if (row_of_grid < kDoubtRows) {
    wait_for_kernel_before();
    winograd_doubts<Form>(layer, first + row_of_grid * (kCnnLayerWinogradThreads / kDoubtRows));
    return;
  }
  if (!layer.is_beside_magnitudes) wait_for_kernel_before();
  const int tile = first + static_cast<int>(threadIdx.x);
  if (tile >= layer.tiles) return;
  const WinogradTile place(layer, tile);
  const int step = static_cast<int>(gridDim.y) - kDoubtRows;
  for (int channel = row_of_grid - kDoubtRows; channel < layer.channels; channel += step) {
    float value[Form::kPoints];
    read_columns<Form, kColumns, kColumns>(layer, place, channel, 0, value);
#pragma unroll
    for (int x = 0; x < kColumns; ++x) transform_pixels<Form::kOutputsY, Form::kTaps, kColumns>(value + x);
    float* const to = layer.transformed + channel * layer.leading + tile;
    const std::int64_t matrix = layer.channels * layer.leading;
#pragma unroll
    for (int y = 0; y < kRows; ++y) {
      transform_pixels<Form::kOutputsX, Form::kTaps, 1>(value + y * kColumns);
#pragma unroll
      for (int x = 0; x < kColumns; ++x) to[(y * kColumns + x) * matrix] = value[y * kColumns + x];
    }
  }
}

/// Stores the outputs of a tile from its sums.
template <class Form>
__device__ __forceinline__ void store_tile(const CnnLayerWinogradArguments& layer, const WinogradTile& place,
                                           int channel, const float* sums) {
  constexpr int kColumns = Form::kOutputsX;
  const int y0 = place.row * Form::kOutputsY;
  const int x0 = place.column * kColumns;
  if (layer.pooled) {
#pragma unroll
    for (int y = 0; y < Form::kOutputsY; y += 2) {
#pragma unroll
      for (int x = 0; x < kColumns; x += 2) {
        const float* const window = sums + y * kColumns + x;
        store_output(layer, place.image, channel, (y0 + y) / 2, (x0 + x) / 2,
                     larger(larger(window[0], window[1]), larger(window[kColumns], window[kColumns + 1])));
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < Form::kOutputs; ++i) {
      store_output(layer, place.image, channel, y0 + i / kColumns, x0 + i % kColumns, sums[i]);
    }
  }
}

/// A tile of sums from its products, of which those of a point lie `matrix` after those of the point before.
template <class Form>
__device__ __forceinline__ void transform_tile(const float* products, std::int64_t matrix, float* result) {
  constexpr int kRows = Form::kPointsY, kColumns = Form::kPointsX;
  float half[Form::kOutputsY * kColumns];  // columns done
#pragma unroll
  for (int x = 0; x < kColumns; ++x) {
    float value[kRows];
#pragma unroll
    for (int y = 0; y < kRows; ++y) value[y] = products[(y * kColumns + x) * matrix];
    transform_products<Form::kOutputsY, Form::kTaps, kColumns>(value, half + x);
  }
#pragma unroll
  for (int y = 0; y < Form::kOutputsY; ++y) {
    transform_products<Form::kOutputsX, Form::kTaps, 1>(half + y * kColumns, result + y * Form::kOutputsX);
  }
}

/// Stores a tile's outputs, or has them computed anew. By `lanes` of a warp, the first ones without a gap, each with a
/// tile of its own, which may not be there.
template <class Form>
__device__ __forceinline__ void finish_tile(const CnnLayerWinogradArguments& layer, unsigned lanes, bool is_there,
                                            int tile, int channel, const float* result) {
  float zero = 0;
#pragma unroll
  for (int i = 0; i < Form::kOutputs; ++i) zero = fmaf(result[i], 0.0F, zero);
  const bool is_sure = zero == 0 && is_there && layer.doubts[tile] == 0;
  if (is_sure) store_tile<Form>(layer, WinogradTile(layer, tile), channel, result);
  const unsigned anew = __ballot_sync(lanes, is_there && !is_sure);
  if (anew != 0) convolve_tiles<Form>(layer, lanes, anew, tile, channel);
}

template <class Form>
__device__ __forceinline__ void winograd_output(const CnnLayerWinogradArguments& layer) {
  let_next_kernel_start();
  const int tile = static_cast<int>(blockIdx.x * kCnnLayerWinogradThreads + threadIdx.x);
  wait_for_kernel_before();
  const unsigned lanes = __ballot_sync(~0U, tile < layer.tiles);
  if (tile >= layer.tiles) return;
  for (int channel = static_cast<int>(blockIdx.y); channel < layer.outputs; channel += static_cast<int>(gridDim.y)) {
    float result[Form::kOutputs];
    transform_tile<Form>(layer.products + channel * layer.leading + tile, layer.outputs * layer.leading, result);
    finish_tile<Form>(layer, lanes, true, tile, channel, result);
  }
}

/// transformed = Gy g Gx', computed in double and rounded once. A thread takes one filter.
template <class Form>
__device__ __forceinline__ void winograd_weights(const CnnLayerWinogradWeightsArguments& layer) {
  constexpr int kRows = Form::kPointsY, kColumns = Form::kPointsX, kFilter = Form::kTaps;
  constexpr auto kNumbersY = kWinogradNumbers<Form::kOutputsY, kFilter>;
  constexpr auto kNumbersX = kWinogradNumbers<Form::kOutputsX, kFilter>;
  let_next_kernel_start();
  const int output = static_cast<int>(blockIdx.x * kCnnLayerWinogradThreads + threadIdx.x);
  wait_for_kernel_before();
  if (output >= layer.leading) return;
  for (int channel = static_cast<int>(blockIdx.y); channel < layer.channels; channel += static_cast<int>(gridDim.y)) {
    const float* const from =
        layer.weights + (static_cast<std::int64_t>(output) * layer.channels + channel) * (kFilter * kFilter);
    double half[kRows][kFilter];
#pragma unroll
    for (int x = 0; x < kFilter; ++x) {
      double column[kFilter];
#pragma unroll
      for (int y = 0; y < kFilter; ++y) column[y] = output < layer.outputs ? from[y * kFilter + x] : 0.0;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        half[i][x] = 0;
#pragma unroll
        for (int y = 0; y < kFilter; ++y) half[i][x] += kNumbersY.weights[i][y] * column[y];
      }
    }
    float* const to = layer.transformed + channel * layer.leading + output;
    const std::int64_t matrix = layer.channels * layer.leading;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        double sum = 0;
#pragma unroll
        for (int x = 0; x < kFilter; ++x) sum += kNumbersX.weights[j][x] * half[i][x];
        to[(i * kColumns + j) * matrix] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace tessera::cuda
