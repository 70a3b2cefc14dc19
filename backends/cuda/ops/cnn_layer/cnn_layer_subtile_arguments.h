// What the kernels of cnn_layer's variant subtile take, by value; read by host and device.
#pragma once

#include <cstdint>

#include "ops/cnn_layer/cnn_layer_arguments.h"

namespace tessera::cuda {

/// A thread's sub-tile: output channels x rows x columns of the convolution, before the pool.
struct CnnLayerSubtile {
  int channels;
  int rows;
  int columns;
};

/// Which of the published study's loops and sums a kernel has.
struct CnnLayerSubtileForm {
  bool fused;   ///< bias, ReLU and pool in one loop, else in three
  bool zeroed;  ///< the sums begin at zero, else with the first step's products
};

/// The weights are prepared: a row of `weights_stride` elements for each channel and place of the filter, with zeros
/// behind the last output channel up to a whole sub-tile.
template <class T>
struct CnnLayerSubtileArguments {
  CnnLayerArguments<T> layer;
  std::int64_t weights_stride;
  std::int64_t tiles_x;  ///< groups' tiles side by side
  std::int64_t tiles_y;
  std::int64_t tiles_channels;
  std::int32_t items_x;  ///< sub-tiles of a group's tile side by side
  std::int32_t items_y;
  std::int32_t items_channels;
  std::int32_t windows_x;  ///< outputs of a sub-tile side by side
  std::int32_t windows_y;
  // For the kernels that are compiled for no sub-tile.
  std::int32_t fused;   ///< 1: bias, ReLU and pool in one loop, 0: in three
  std::int32_t zeroed;  ///< 1: the sums begin at zero, 0: with the first step's products
  CnnLayerSubtile sub;
};

/// Output channels of the sub-tiles that are compiled in every form.
inline constexpr int kCnnLayerFormFloats = 8;
inline constexpr int kCnnLayerFormDoubles = 4;

/// The largest sub-tile: output channels, and rows or columns.
inline constexpr int kCnnLayerMostSubChannels = 16;
inline constexpr int kCnnLayerMostSubSide = 4;

/// At most; a group whose tile has more sub-tiles computes them in turns.
inline constexpr int kCnnLayerSubtileThreads = 256;

}  // namespace tessera::cuda
