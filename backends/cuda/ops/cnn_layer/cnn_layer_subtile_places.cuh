// Which sub-tiles a thread of cnn_layer's variant subtile computes, and where their pixels are.
#pragma once

#include "ops/cnn_layer/cnn_layer_subtile_arguments.h"

namespace tessera::cuda {

/// Calls use(image, channel, output_y, output_x) for each sub-tile of this thread that has outputs: a group is a tile,
/// its threads take the tile's sub-tiles in turns. (channel, output_y, output_x) is the sub-tile's first output.
template <class T, class Use>
__device__ __forceinline__ void for_each_subtile(const CnnLayerSubtileArguments<T>& tile, int sub_channels, Use use) {
  const CnnLayerArguments<T>& layer = tile.layer;
  const int items = tile.items_x * tile.items_y * tile.items_channels;
  std::int64_t group = blockIdx.x;
  const std::int64_t tile_x = group % tile.tiles_x;
  group /= tile.tiles_x;
  const std::int64_t tile_y = group % tile.tiles_y;
  group /= tile.tiles_y;
  const std::int64_t tile_channel = group % tile.tiles_channels;
  const std::int64_t image = group / tile.tiles_channels;
  for (int item = static_cast<int>(threadIdx.x); item < items; item += static_cast<int>(blockDim.x)) {
    const int item_y = item / tile.items_x;
    const std::int64_t channel =
        (tile_channel * tile.items_channels + item_y / tile.items_y) * std::int64_t{sub_channels};
    const std::int64_t output_y = (tile_y * tile.items_y + item_y % tile.items_y) * tile.windows_y;
    const std::int64_t output_x = (tile_x * tile.items_x + item % tile.items_x) * tile.windows_x;
    if (channel >= layer.outputs || output_y >= layer.output_height || output_x >= layer.output_width) continue;
    use(image, channel, output_y, output_x);
  }
}

/// The input's row under the filter's first one for output row `output`; the same for columns.
template <class T>
__device__ __forceinline__ std::int64_t first_pixel(const CnnLayerArguments<T>& layer, std::int64_t output) {
  return output * layer.pool_stride * layer.stride - layer.padding;
}

}  // namespace tessera::cuda
