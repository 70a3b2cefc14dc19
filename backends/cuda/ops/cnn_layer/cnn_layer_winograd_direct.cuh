// cnn_layer, winograd: tiles that are computed without the transforms, and which tiles these are.
//
//   input, C channels      magnitudes             in doubt              output
//   +-----------+          +-----------+  n x n   one byte    a warp    +-------+
//   |           |+  sum    |  +---+    |  sums    for each    for each  | m x m |
//   |           ||  ---->  |  |   |    |  ---->   tile     ---------->  |       |
//   +-----------+| of |x|  +--+---+----+ of a tile         such tile    +-------+
//    +-----------+                                         and channel
//
// Doubt, its matrix and its limit: cnn_layer_winograd_limit() in mathematics/cnn_layer_winograd.h. The magnitudes are a
// kernel of their own, which reads every pixel once; doubt is told by blocks beside those that transform the input; the
// transform back finds what to compute anew, and its warps do it together.
//
// From sm_90 on the magnitudes cost little beside the transform of the input, because both run at once: the kernel of
// the magnitudes first waits for what is before it and lets the transform start only then, so that the transform's
// blocks need not wait for it; those that tell doubt, the first of the grid, do.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "ops/cnn_layer/cnn_layer_store.cuh"
#include "ops/cnn_layer/cnn_layer_winograd_arguments.h"
#include "ops/cnn_layer/cnn_layer_winograd_transforms.cuh"
#include "ops/gemm/gemm_register_fetch.cuh"

namespace tessera::cuda {

/// Where a tile of the chunk lies.
struct WinogradTile {
  __device__ __forceinline__ WinogradTile(const CnnLayerWinogradArguments& layer, int tile) {
    const int number = layer.first_tile + tile;
    image = number / layer.image_tiles;
    const int in_image = number - image * layer.image_tiles;
    row = in_image / layer.row_tiles;
    column = in_image - row * layer.row_tiles;
  }
  int image;
  int row;
  int column;
};

/// A group takes pixels beside each other, a warp of it every so manieth channel of them. Sums are added in an order
/// that depends on the number of channels alone. kVector: pixels that a thread takes at once.
template <int kVector>
__device__ __forceinline__ void add_magnitudes(const CnnLayerWinogradMagnitudesArguments& layer) {
  constexpr int kPixels = kCnnLayerWinogradPixels;
  constexpr int kSlices = kCnnLayerWinogradSlices;
  using Pixels = Run<float, kVector>;
  __shared__ Pixels parts[kSlices][kPixels];
  const int slice = static_cast<int>(threadIdx.x) / kPixels;
  const int place = static_cast<int>(threadIdx.x) % kPixels;
  const std::int64_t pixel = (static_cast<std::int64_t>(blockIdx.x) * kPixels + place) * kVector;
  for (int image = static_cast<int>(blockIdx.y); image < layer.images; image += static_cast<int>(gridDim.y)) {
    Pixels part{};
    if (pixel < layer.pixels) {
      const float* const from = layer.input + static_cast<std::int64_t>(image) * layer.channels * layer.pixels + pixel;
#pragma unroll 4
      for (int channel = slice; channel < layer.channels; channel += kSlices) {
        const Pixels read = *reinterpret_cast<const Pixels*>(from + channel * layer.pixels);
#pragma unroll
        for (int i = 0; i < kVector; ++i) part.element[i] += fabsf(read.element[i]);
      }
    }
    parts[slice][place] = part;
    __syncthreads();
    if (slice == 0 && pixel < layer.pixels) {
      Pixels sum{};
#pragma unroll
      for (int from = 0; from < kSlices; ++from) {
#pragma unroll
        for (int i = 0; i < kVector; ++i) sum.element[i] += parts[from][place].element[i];
      }
      *reinterpret_cast<Pixels*>(layer.magnitudes + image * layer.pixels + pixel) = sum;
    }
    __syncthreads();  // the next image's parts overwrite what the first warp reads
  }
}

__device__ __forceinline__ void winograd_magnitudes(const CnnLayerWinogradMagnitudesArguments& layer) {
  wait_for_kernel_before();
  let_next_kernel_start();
  if (layer.vector == 4) {
    add_magnitudes<4>(layer);
  } else {
    add_magnitudes<1>(layer);
  }
}

/// Of as many neighbouring lanes, a power of two. A NaN does not count.
template <int kLanes>
__device__ __forceinline__ float largest_of_lanes(float value) {
#pragma unroll
  for (int apart = kLanes / 2; apart > 0; apart /= 2) value = fmaxf(value, __shfl_xor_sync(~0U, value, apart));
  return value;
}

/// Could pixels beside the windows of a tile spoil any of its sums? Told by a block for as many tiles, from `first` on,
/// as it has groups of eight lanes: a lane sums up columns of the patch, and then a row of outputs.
template <class Form>
__device__ __forceinline__ void winograd_doubts(const CnnLayerWinogradArguments& layer, int first) {
  constexpr int kLanes = kCnnLayerWinogradDoubtRows;
  constexpr int kTiles = kCnnLayerWinogradThreads / kLanes;
  constexpr int kRows = Form::kPointsY, kColumns = Form::kPointsX;
  static_assert(Form::kOutputsY <= kLanes);
  constexpr auto kNumbersY = kWinogradNumbers<Form::kOutputsY, Form::kTaps>;
  constexpr auto kNumbersX = kWinogradNumbers<Form::kOutputsX, Form::kTaps>;
  __shared__ float felt[kTiles][Form::kOutputsY][kColumns];  // by each row of outputs of a column of pixels
  __shared__ float own[kTiles][Form::kOutputsY][kColumns];   // the part of it that lies in the row's own window
  const int its = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int tile = first + its;
  float most = 0;
  if (tile < layer.tiles) {
    const WinogradTile place(layer, tile);
    const int y0 = place.row * Form::kOutputsY - layer.padding;
    const int x0 = place.column * Form::kOutputsX - layer.padding;
    const float* const plane = layer.magnitudes + static_cast<std::int64_t>(place.image) * layer.height * layer.width;
#pragma unroll 1
    for (int column = lane; column < kColumns; column += kLanes) {
      const bool is_column = static_cast<unsigned>(x0 + column) < static_cast<unsigned>(layer.width);
      float value[kRows];
#pragma unroll
      for (int y = 0; y < kRows; ++y) {
        const bool is_pixel = is_column && static_cast<unsigned>(y0 + y) < static_cast<unsigned>(layer.height);
        value[y] = is_pixel ? plane[static_cast<std::int64_t>(y0 + y) * layer.width + x0 + column] : 0.0F;
        most = fmaxf(most, value[y]);
      }
#pragma unroll
      for (int o = 0; o < Form::kOutputsY; ++o) {
        MultipleSum all;
        float inside = 0;
#pragma unroll
        for (int y = 0; y < kRows; ++y) {
          all.add(kNumbersY.growth[o][y], value[y]);
          if (y >= o && y < o + Form::kTaps) inside += value[y];
        }
        felt[its][o][column] = all.value;
        own[its][o][column] = inside;
      }
    }
  }
  most = largest_of_lanes<kLanes>(most);
  __syncwarp();
  // Only sums that are there count: beyond them the window of a tile at the edge may hold nothing.
  const WinogradTile place(layer, tile < layer.tiles ? tile : 0);
  const int sums_of_output = layer.pooled ? 2 : 1;
  const int rows = layer.output_height * sums_of_output - place.row * Form::kOutputsY;
  const int columns = layer.output_width * sums_of_output - place.column * Form::kOutputsX;
  bool is_sure = true;
  if (tile < layer.tiles && lane < min(Form::kOutputsY, rows)) {
#pragma unroll
    for (int p = 0; p < Form::kOutputsX; ++p) {
      MultipleSum all;
      float inside = 0;
#pragma unroll
      for (int x = 0; x < kColumns; ++x) {
        all.add(kNumbersX.growth[p][x], felt[its][lane][x]);
        if (x >= p && x < p + Form::kTaps) inside += own[its][lane][x];
      }
      // Neither a NaN nor an infinity passes this comparison.
      const bool is_within = all.value + layer.doubt_of_largest * most <= fminf(layer.limit * inside, 3.402823466e38F);
      is_sure = is_sure && (is_within || p >= columns);
    }
  }
  const unsigned sure = __ballot_sync(~0U, is_sure);
  constexpr unsigned kAll = (1U << kLanes) - 1;
  const unsigned of_tile = (sure >> (static_cast<int>(threadIdx.x) % 32 / kLanes * kLanes)) & kAll;
  if (lane == 0 && tile < layer.tiles) layer.doubts[tile] = of_tile != kAll ? 1 : 0;
}

/// One sum from pixels and weights as they are, by `lanes` of a warp, the first lanes without a gap; the first has the
/// result.
template <int kFilter>
__device__ __forceinline__ float convolved(const CnnLayerWinogradArguments& layer, unsigned lanes, int image,
                                           int channel, int y, int x) {
  constexpr int kPlaces = kFilter * kFilter;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int count = __popc(lanes);
  const std::int64_t plane = static_cast<std::int64_t>(layer.height) * layer.width;
  const float* const pixels = layer.input + static_cast<std::int64_t>(image) * layer.channels * plane;
  const int products = layer.channels * kPlaces;
  const float* const weights = layer.weights + static_cast<std::int64_t>(channel) * products;
  float sum = 0;
#pragma unroll 4
  for (int k = lane; k < products; k += count) {
    const int place = k % kPlaces;
    const int input_y = y - layer.padding + place / kFilter;
    const int input_x = x - layer.padding + place % kFilter;
    if (input_y < 0 || input_y >= layer.height || input_x < 0 || input_x >= layer.width) continue;
    sum += weights[k] * pixels[k / kPlaces * plane + static_cast<std::int64_t>(input_y) * layer.width + input_x];
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_down_sync(lanes, sum, offset);
    if (lane + offset < count) sum += other;
  }
  return sum;
}

/// Stores what became of a sum, or of a window's largest, at row y and column x of a channel, if that is an output.
__device__ __forceinline__ void store_output(const CnnLayerWinogradArguments& layer, int image, int channel, int y,
                                             int x, float sum) {
  if (y >= layer.output_height || x >= layer.output_width) return;
  const float bias = layer.bias != nullptr ? layer.bias[channel] : 0.0F;
  float* const plane = layer.output + (static_cast<std::int64_t>(image) * layer.outputs + channel) *
                                          layer.output_height * layer.output_width;
  plane[static_cast<std::int64_t>(y) * layer.output_width + x] = finished(sum, bias, layer.relu);
}

/// The outputs of a tile without the transforms, by `lanes` of a warp, all of which call this with the same tile.
template <class Form>
__device__ __forceinline__ void convolve_tile(const CnnLayerWinogradArguments& layer, unsigned lanes,
                                              const WinogradTile& place, int channel) {
  const int step = layer.pooled ? 2 : 1;
#pragma unroll 1
  for (int y = 0; y < Form::kOutputsY; y += step) {
#pragma unroll 1
    for (int x = 0; x < Form::kOutputsX; x += step) {
      float most = 0;
#pragma unroll 1
      for (int i = 0; i < step * step; ++i) {
        const float sum =
            convolved<Form::kTaps>(layer, lanes, place.image, channel, place.row * Form::kOutputsY + y + i / step,
                                   place.column * Form::kOutputsX + x + i % step);
        most = i == 0 ? sum : larger(most, sum);
      }
      if (threadIdx.x % 32 != 0) continue;
      store_output(layer, place.image, channel, (place.row * Form::kOutputsY + y) / step,
                   (place.column * Form::kOutputsX + x) / step, most);
    }
  }
}

/// What is not finite, sums so large that the transforms overflow, and pixels that outweigh a window beside them must
/// not spread to all outputs of a tile. So the tiles of lanes `anew` are computed anew, one after the other, by all
/// `lanes` of the warp, which call this together. `tile` and `channel` are the caller's own. Not inlined: it is rare,
/// and its registers would count for the transform.
template <class Form>
__device__ __noinline__ void convolve_tiles(const CnnLayerWinogradArguments& layer, unsigned lanes, unsigned anew,
                                            int tile, int channel) {
  for (; anew != 0; anew &= anew - 1) {
    const int lane = __ffs(static_cast<int>(anew)) - 1;
    const WinogradTile place(layer, __shfl_sync(lanes, tile, lane));
    convolve_tile<Form>(layer, lanes, place, __shfl_sync(lanes, channel, lane));
  }
}

}  // namespace tessera::cuda
