// What the kernels of cnn_layer's variant winograd_split take, by value, and how products lie between them; read by
// host and device.
//
// Sums lie as the warps that multiply have them in registers, so that every access to memory is one piece: a block of
// 16 output channels by 8 tiles is 512 bytes, in which lane 4 g + t has its four sums (cuda_warpgroup_products.cuh).
// Blocks beside each other along the tiles lie one behind the other, then those of the next 16 channels, for each
// point.
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
  std::int32_t* shifts;       ///< of each tile: its pixels were multiplied by 2^shift
  std::int64_t matrix_rows;   ///< from one matrix to the next; what is beyond the chunk's tiles is 0
  std::int64_t matrix_sums;   ///< from one point's products to the next
  std::int32_t panels_of_k;   ///< of a row
  std::int32_t block_rows;    ///< that lie together in a panel
  std::int32_t growth_power;  ///< a transformed pixel is less than 2^this times the largest of its patch
  std::int32_t shares;        ///< blocks among which the channels of a group of tiles are shared
};

/// Tiles of products: gemm's, two whose columns leave fewer of a layer's tiles without work, and one whose products are
/// transformed down before they are stored (cnn_layer_winograd_split_columns.cuh).
inline constexpr GemmSplitShape kCnnLayerWinogradShapes[]{kGemmSplitShapes[0],  {1, 72, 4, 4, 2, 2},
                                                          kGemmSplitShapes[1],  {2, 112, 2, 3, 1, 2},
                                                          {2, 120, 2, 3, 1, 2}, kGemmSplitShapes[2]};
[[nodiscard]] constexpr bool transforms_products_down(const GemmSplitShape& shape) {
  return shape.tile_n == 72;
}

/// Output channels and tiles of a block of products, and its numbers.
inline constexpr int kCnnLayerWinogradBlockOutputs = 16, kCnnLayerWinogradBlockTiles = 8;
inline constexpr int kCnnLayerWinogradBlock = kCnnLayerWinogradBlockOutputs * kCnnLayerWinogradBlockTiles;

/// Tiles and channels of a group: a chunk of a panel holds as many channels.
inline constexpr int kCnnLayerWinogradSplitTiles = 16, kCnnLayerWinogradSplitChannels = 8;

/// Threads that share a tile's patch of a channel, each with as many of its columns, by the points of a row: more warps
/// find registers then.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int cnn_layer_winograd_split_parts(int points_of_row) {
  return points_of_row >= 8 ? 2 : 1;
}

/// Are the pixels of a group's next chunk read before the points of the last one are stored? That wants registers for
/// both. On an H100 the study's layer takes 335 us with it and 338 without, for tiles of 80 points.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr bool cnn_layer_winograd_split_reads_ahead(std::int64_t points) {
  return points > 64;
}

}  // namespace tessera::cuda
