// cnn_layer, implicit_gemm: the kernel. The convolution is a product of matrices whose second one is never stored:
//
//                        pixels: steps x columns        Tiles go through shared memory and registers as in gemm's
//                        +----------+-----+             variant register, by the same pieces (gemm_register.cuh); only
//                        |          |stage|             the pixels are gathered (cnn_layer_pixels.cuh) instead of
//                        |          +-----+             copied.
//                        |          |stage|
//   weights:             +----------+-----+             A step is one channel at one place of the filter. Weights are
//   outputs x steps      result                         prepared: a row for each step, so that four output channels
//   +---+---+-------     +----------+-----+             are one load of 16 bytes.
//   |   |   | ...        |          |tile |
//   +---+---+-------     +----------+-----+             Bias, ReLU and a 2 x 2 pool are done on the sums in registers:
//                                                       a thread's runs of four columns are the pool's windows.
//
// A weight is read columns / tile columns times from L2, a pixel filter * filter * outputs / tile rows times, nearly
// always from L1. Other pools, and k split over several groups, go through parts, which cnn_layer_finish.cu ends.
#pragma once

#include <type_traits>

#include "ops/cnn_layer/cnn_layer_pixels.cuh"
#include "ops/cnn_layer/cnn_layer_store.cuh"
#include "ops/gemm/gemm_register.cuh"

namespace tessera::cuda {

/// Stores four columns of one output channel.
template <class T>
__device__ __forceinline__ void store_columns(const CnnLayerGemmArguments<T>& layer, T* output, int row, int column,
                                              const T* sum) {
  if (row >= layer.outputs || column >= layer.columns) return;
  const int image = column / layer.image_columns;
  const int in_image = column - image * layer.image_columns;
  T* const channel = output + image * layer.output_image_stride + row * layer.output_channel_stride;
  const T bias = layer.bias != nullptr ? layer.bias[row] : T(0);
  if (layer.pooled) {
    const T most = larger(larger(sum[0], sum[1]), larger(sum[2], sum[3]));
    channel[in_image / 4 * layer.output_pixel_stride] = finished(most, bias, layer.relu);
    return;
  }
  Run<T, kChunk<T>> value[4 / kChunk<T>];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    value[i / kChunk<T>].element[i % kChunk<T>] = layer.is_part ? sum[i] : finished(sum[i], bias, layer.relu);
  }
  if (layer.aligned) {
#pragma unroll
    for (int i = 0; i < 4; i += kChunk<T>) {
      *reinterpret_cast<Run<T, kChunk<T>>*>(channel + in_image + i) = value[i / kChunk<T>];
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (column + i >= layer.columns) return;
    const int later = (in_image + i) / layer.image_columns;  // images of a few pixels end within the four
    channel[later * layer.output_image_stride +
            (in_image + i - later * layer.image_columns) * layer.output_pixel_stride] =
        value[i / kChunk<T>].element[i % kChunk<T>];
  }
}

template <GemmRegisterShape kShape, class Warp, bool kWide>
__device__ __forceinline__ void cnn_layer_implicit_gemm(const CnnLayerGemmArguments<typename Warp::T>& layer) {
  using T = typename Warp::T;
  constexpr int kThreads = kShape.threads();
  constexpr int kSteps = kShape.depth / kShape.slices;  // of a thread, of a stage
  constexpr int kStages = kAsynchronousCopies ? kShape.stages : 2;
  using StageA = typename Warp::template StageA<kShape.tile_m, kShape.depth, GemmLayout::across>;
  using StageB = typename Warp::template StageB<kShape.tile_n, kShape.depth, GemmLayout::across>;
  using Weights = Operand<StageA, kThreads, kChunk<T>, kStages>;
  using Pixels = PixelOperand<StageB, kThreads, kStages, kWide>;
  using Tile = typename Warp::template Tile<StageA, StageB>;
  static_assert(kShape.tile_m == Warp::kRows * kShape.warps_m && kShape.tile_n == Warp::kColumns * kShape.warps_n);
  static_assert(kShape.depth % kShape.slices == 0 && kSteps % Tile::kSteps == 0);
  static_assert(kShape.depth % kCnnLayerGroup == 0);
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  T* const shared = reinterpret_cast<T*>(shared_bytes_of_block);

  let_next_kernel_start();
  const int block = static_cast<int>(blockIdx.x);
  const int row0 = block % layer.tiles_m * kShape.tile_m;
  const int column0 = block / layer.tiles_m * kShape.tile_n;
  const int first_group = static_cast<int>(blockIdx.y) * layer.split_groups;
  const int groups = min(layer.split_groups, layer.groups - first_group);
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32 % (kShape.warps_m * kShape.warps_n);
  const int slice = thread / kShape.slice_threads();

  Tile tile(lane, warp / kShape.warps_n * Warp::kRows, warp % kShape.warps_n * Warp::kColumns, slice * kSteps);
  wait_for_kernel_before();
  if (groups > 0) {
    const int steps = groups * kCnnLayerGroup;
    const int count = (steps + kShape.depth - 1) / kShape.depth;
    Weights weights(shared, layer.weights, layer.weights_stride, row0, layer.outputs,
                    static_cast<std::int64_t>(first_group) * kCnnLayerGroup);
    Pixels pixels(shared + Weights::kSize, layer, column0, first_group);
    multiply_stages<kStages, kSteps>(tile, weights, pixels, count, steps - (count - 1) * kShape.depth);
  }

  T* const output = layer.output + blockIdx.y * layer.split_stride;
  const auto store = [&](int its_warp, int row, int column, const T* run) {
    store_columns(layer, output, row0 + its_warp / kShape.warps_n * Warp::kRows + row,
                  column0 + its_warp % kShape.warps_n * Warp::kColumns + column, run);
  };
  const int blocks = blocks_of_cluster();
  if (kShape.slices == 1 && blocks == 1) {
    tile.store_all(lane, [&](int row, int column, const T* run) { store(warp, row, column, run); });
  } else {
    add_up<kShape.slices, kShape.slice_threads()>(tile, reinterpret_cast<Run<T, kChunk<T>>*>(shared), blocks, store);
  }
}

}  // namespace tessera::cuda
