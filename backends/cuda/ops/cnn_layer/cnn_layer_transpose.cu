// cnn_layer: turns pixels with all of their channels (NHWC) into planes (NCHW), and back.
//
//   rows x columns          columns x rows          a group  = a tile of 32 x 32 elements, through shared memory, so
//   +---+----+---+          +----+---+                         that both reading and writing go along rows
//   |   |tile|   |   -->    |    |   |              a thread = four of them, eight rows apart
//   +---+----+---+          +----+---+
//   |   |    |   |          |tile|   |              Every element is read and written once. Tiles lie along the grid's
//   +---+----+---+          +----+---+              x; matrices, one for each image, lie along y, which loops on.
//                           |    |   |
//                           +----+---+
#include "cuda_kernel_overlap.cuh"
#include "ops/cnn_layer/cnn_layer_arguments.h"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ void cnn_layer_transpose(const CnnLayerTransposeArguments<T>& turn) {
  constexpr int kTile = kCnnLayerTransposeTile;
  constexpr int kRows = kCnnLayerTransposeRows;
  __shared__ T tile[kTile][kTile + 1];  // one more, so that a column's elements lie in different banks
  let_next_kernel_start();
  wait_for_kernel_before();
  const std::int64_t tiles_across = (turn.columns + kTile - 1) / kTile;
  const std::int64_t row0 = blockIdx.x / tiles_across * kTile;
  const std::int64_t column0 = blockIdx.x % tiles_across * kTile;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  for (std::int64_t matrix = blockIdx.y; matrix < turn.matrices; matrix += gridDim.y) {
    const T* const from = turn.from + matrix * turn.rows * turn.columns;
    T* const to = turn.to + matrix * turn.rows * turn.columns;
#pragma unroll
    for (int i = 0; i < kTile; i += kRows) {
      const bool is_inside = row0 + y + i < turn.rows && column0 + x < turn.columns;
      if (is_inside) tile[y + i][x] = from[(row0 + y + i) * turn.columns + column0 + x];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; i += kRows) {
      const bool is_inside = column0 + y + i < turn.columns && row0 + x < turn.rows;
      if (is_inside) to[(column0 + y + i) * turn.rows + row0 + x] = tile[x][y + i];
    }
    __syncthreads();
  }
}

}  // namespace tessera::cuda

#define TESSERA_CNN_LAYER_TRANSPOSE(T, type)                                                                          \
  extern "C" __global__ void __launch_bounds__(                                                                       \
      tessera::cuda::kCnnLayerTransposeTile* tessera::cuda::kCnnLayerTransposeRows)                                   \
      tessera_cnn_layer_transpose_##type(const __grid_constant__ tessera::cuda::CnnLayerTransposeArguments<T> turn) { \
    tessera::cuda::cnn_layer_transpose(turn);                                                                         \
  }

TESSERA_CNN_LAYER_TRANSPOSE(float, float32)
TESSERA_CNN_LAYER_TRANSPOSE(double, float64)
