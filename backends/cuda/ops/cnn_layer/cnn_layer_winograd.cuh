// cnn_layer, winograd: the transforms, for tiles of kOutputs x kOutputs pixels and filters of kFilter x kFilter.
//
//   input                 transformed                products                   output
//   +-----------+         for each of n * n points   for each point             +-------+  bias, ReLU,
//   | n x n     |  B'dB   +-------------------+      weights * transformed      | m x m |  a 2 x 2 pool within
//   | pixels of |  ---->  | channels x tiles  | ---> +-------------------+ ---> | of a  |  the tile
//   | a channel |         +-------------------+ gemm | outputs x tiles   | A'MA | plane |
//   +-----------+         | ...               |      | ...               |      +-------+
//                                                                                   m = kOutputs, n = m + kFilter - 1
//
// A thread transforms one tile of one channel, in registers; neighbouring threads take neighbouring tiles, so that what
// they write and read of a matrix lies together. The products between are gemm's register variant, n * n of them in one
// launch. Each pixel is read (n / m)^2 times, mostly from L1.
//
// The matrices are those of mathematics/cnn_layer_winograd.h. Weights are transformed in double and rounded once.
#pragma once

#include "ops/cnn_layer/cnn_layer_store.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_arguments.h"
#include "ops/cnn_layer/cnn_layer_winograd_direct.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_transforms.cuh"
#include "ops/gemm/gemm_register_store.cuh"

namespace tessera::cuda {

/// Columns first to first + kColumns - 1 of the patch of a tile of one channel, in registers; 0 beyond the image.
template <int kOutputs, int kFilter, int kColumns>
__device__ __forceinline__ void read_columns(const CnnLayerWinogradArguments& layer, const WinogradTile& place,
                                             int channel, int first, float* value) {
  constexpr int n = kOutputs + kFilter - 1;
  const int y0 = place.row * kOutputs - layer.padding;
  const int x0 = place.column * kOutputs - layer.padding + first;
  const float* row = layer.input +
                     (static_cast<std::int64_t>(place.image) * layer.channels + channel) * layer.height * layer.width +
                     static_cast<std::int64_t>(y0) * layer.width + x0;
  if (layer.aligned && x0 >= 0 && x0 + kColumns <= layer.width) {
    constexpr int kVector = kOutputs == 4 ? 4 : 2;
#pragma unroll
    for (int y = 0; y < n; ++y, row += layer.width) {
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
        for (int i = 0; i < kVector && x + i < kColumns; ++i) value[y * kColumns + x + i] = run.element[i];
      }
    }
    return;
  }
#pragma unroll
  for (int y = 0; y < n; ++y, row += layer.width) {
    const bool is_row = static_cast<unsigned>(y0 + y) < static_cast<unsigned>(layer.height);
#pragma unroll
    for (int x = 0; x < kColumns; ++x) {
      const bool is_pixel = is_row && static_cast<unsigned>(x0 + x) < static_cast<unsigned>(layer.width);
      value[y * kColumns + x] = is_pixel ? row[x] : 0.0F;
    }
  }
}

/// The first rows of the grid tell which tiles are in doubt, the others transform a channel each.
template <int kOutputs, int kFilter>
__device__ __forceinline__ void winograd_input(const CnnLayerWinogradArguments& layer) {
  constexpr int n = kOutputs + kFilter - 1;
  constexpr int kDoubtRows = kCnnLayerWinogradDoubtRows;
  let_next_kernel_start();
  const int first = static_cast<int>(blockIdx.x) * kCnnLayerWinogradThreads;
  const int row_of_grid = static_cast<int>(blockIdx.y);
  if (row_of_grid < kDoubtRows) {
    wait_for_kernel_before();
    winograd_doubts<kOutputs, kFilter>(layer, first + row_of_grid * (kCnnLayerWinogradThreads / kDoubtRows));
    return;
  }
  if (!layer.is_beside_magnitudes) wait_for_kernel_before();
  const int tile = first + static_cast<int>(threadIdx.x);
  if (tile >= layer.tiles) return;
  const WinogradTile place(layer, tile);
  const int step = static_cast<int>(gridDim.y) - kDoubtRows;
  for (int channel = row_of_grid - kDoubtRows; channel < layer.channels; channel += step) {
    float value[n * n];
    read_columns<kOutputs, kFilter, n>(layer, place, channel, 0, value);
#pragma unroll
    for (int x = 0; x < n; ++x) transform_pixels<kOutputs, kFilter, n>(value + x);
    float* const to = layer.transformed + channel * layer.leading + tile;
    const std::int64_t matrix = layer.channels * layer.leading;
#pragma unroll
    for (int y = 0; y < n; ++y) {
      transform_pixels<kOutputs, kFilter, 1>(value + y * n);
#pragma unroll
      for (int x = 0; x < n; ++x) to[(y * n + x) * matrix] = value[y * n + x];
    }
  }
}

/// Stores the outputs of a tile from its sums.
template <int kOutputs>
__device__ __forceinline__ void store_tile(const CnnLayerWinogradArguments& layer, const WinogradTile& place,
                                           int channel, const float* sums) {
  const int y0 = place.row * kOutputs;
  const int x0 = place.column * kOutputs;
  if (layer.pooled) {
#pragma unroll
    for (int y = 0; y < kOutputs; y += 2) {
#pragma unroll
      for (int x = 0; x < kOutputs; x += 2) {
        const float* const window = sums + y * kOutputs + x;
        store_output(layer, place.image, channel, (y0 + y) / 2, (x0 + x) / 2,
                     larger(larger(window[0], window[1]), larger(window[kOutputs], window[kOutputs + 1])));
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < kOutputs * kOutputs; ++i) {
      store_output(layer, place.image, channel, y0 + i / kOutputs, x0 + i % kOutputs, sums[i]);
    }
  }
}

/// A tile of sums from its products, of which those of a point lie `matrix` after those of the point before.
template <int kOutputs, int kFilter>
__device__ __forceinline__ void transform_tile(const float* products, std::int64_t matrix, float* result) {
  constexpr int n = kOutputs + kFilter - 1;
  float half[kOutputs * n];  // columns done
#pragma unroll
  for (int x = 0; x < n; ++x) {
    float value[n];
#pragma unroll
    for (int y = 0; y < n; ++y) value[y] = products[(y * n + x) * matrix];
    transform_products<kOutputs, kFilter, n>(value, half + x);
  }
#pragma unroll
  for (int y = 0; y < kOutputs; ++y) transform_products<kOutputs, kFilter, 1>(half + y * n, result + y * kOutputs);
}

/// Stores a tile's outputs, or has them computed anew. By `lanes` of a warp, the first ones without a gap, each with a
/// tile of its own, which may not be there.
template <int kOutputs, int kFilter>
__device__ __forceinline__ void finish_tile(const CnnLayerWinogradArguments& layer, unsigned lanes, bool is_there,
                                            int tile, int channel, const float* result) {
  float zero = 0;
#pragma unroll
  for (int i = 0; i < kOutputs * kOutputs; ++i) zero = fmaf(result[i], 0.0F, zero);
  const bool is_sure = zero == 0 && is_there && layer.doubts[tile] == 0;
  if (is_sure) store_tile<kOutputs>(layer, WinogradTile(layer, tile), channel, result);
  const unsigned anew = __ballot_sync(lanes, is_there && !is_sure);
  if (anew != 0) convolve_tiles<kOutputs, kFilter>(layer, lanes, anew, tile, channel);
}

template <int kOutputs, int kFilter>
__device__ __forceinline__ void winograd_output(const CnnLayerWinogradArguments& layer) {
  let_next_kernel_start();
  const int tile = static_cast<int>(blockIdx.x * kCnnLayerWinogradThreads + threadIdx.x);
  wait_for_kernel_before();
  const unsigned lanes = __ballot_sync(~0U, tile < layer.tiles);
  if (tile >= layer.tiles) return;
  for (int channel = static_cast<int>(blockIdx.y); channel < layer.outputs; channel += static_cast<int>(gridDim.y)) {
    float result[kOutputs * kOutputs];
    transform_tile<kOutputs, kFilter>(layer.products + channel * layer.leading + tile, layer.outputs * layer.leading,
                                      result);
    finish_tile<kOutputs, kFilter>(layer, lanes, true, tile, channel, result);
  }
}

/// transformed = G g G', computed in double and rounded once. A thread takes one filter.
template <int kOutputs, int kFilter>
__device__ __forceinline__ void winograd_weights(const CnnLayerWinogradWeightsArguments& layer) {
  constexpr int n = kOutputs + kFilter - 1;
  constexpr auto kNumbers = kWinogradNumbers<kOutputs, kFilter>;
  let_next_kernel_start();
  const int output = static_cast<int>(blockIdx.x * kCnnLayerWinogradThreads + threadIdx.x);
  wait_for_kernel_before();
  if (output >= layer.leading) return;
  for (int channel = static_cast<int>(blockIdx.y); channel < layer.channels; channel += static_cast<int>(gridDim.y)) {
    const float* const from =
        layer.weights + (static_cast<std::int64_t>(output) * layer.channels + channel) * (kFilter * kFilter);
    double half[n][kFilter];
#pragma unroll
    for (int x = 0; x < kFilter; ++x) {
      double column[kFilter];
#pragma unroll
      for (int y = 0; y < kFilter; ++y) column[y] = output < layer.outputs ? from[y * kFilter + x] : 0.0;
#pragma unroll
      for (int i = 0; i < n; ++i) {
        half[i][x] = 0;
#pragma unroll
        for (int y = 0; y < kFilter; ++y) half[i][x] += kNumbers.weights[i][y] * column[y];
      }
    }
    float* const to = layer.transformed + channel * layer.leading + output;
    const std::int64_t matrix = layer.channels * layer.leading;
#pragma unroll
    for (int i = 0; i < n; ++i) {
#pragma unroll
      for (int j = 0; j < n; ++j) {
        double sum = 0;
#pragma unroll
        for (int x = 0; x < kFilter; ++x) sum += kNumbers.weights[j][x] * half[i][x];
        to[(i * n + j) * matrix] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace tessera::cuda
