// What the kernel takes that transforms pixels for cnn_layer's variant winograd_split, by value; read by host and device.
#pragma once

#include <cstdint>

#include "ops/cnn_layer/cnn_layer_winograd_arguments.h"
#include "ops/gemm/gemm_split_arguments.h"

namespace tessera::cuda {

/// Transformed pixels are B of gemm's prepared operands: for each point of the transform a matrix, whose rows are tiles
/// and whose steps of k are channels.
struct CnnLayerWinogradSplitArguments {
  CnnLayerWinogradArguments layer;
  unsigned char* panels;
  GemmSplitNote* notes;
  std::int64_t matrix_rows;   ///< from one matrix to the next; what is beyond the chunk's tiles is 0
  std::int32_t panels_of_k;   ///< of a row
  std::int32_t block_rows;    ///< that lie together in a panel
  std::int32_t growth_power;  ///< a transformed pixel is less than 2^this times the largest of its patch
};

/// Tiles and channels of a group, a thread for each of both: a chunk of a panel holds as many channels.
inline constexpr int kCnnLayerWinogradSplitTiles = 16, kCnnLayerWinogradSplitChannels = 8;

}  // namespace tessera::cuda
