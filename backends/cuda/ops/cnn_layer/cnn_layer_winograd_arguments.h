// What the kernels of cnn_layer's variant winograd take, by value; read by host and device.
#pragma once

#include <cstdint>

#include "cuda_host_device.h"

namespace tessera::cuda {

/// A chunk of tiles of the convolution; tiles are numbered row by row through all images. Transformed pixels and
/// products are one matrix for each point of the transform: (channels x leading) and (outputs x leading), where a
/// column is a tile of the chunk.
struct CnnLayerWinogradArguments {
  const float* input;    ///< planes: NCHW
  const float* weights;  ///< as they were given: outputs x channels x filter x filter
  float* transformed;    ///< of the input
  const float* products;
  const float* magnitudes;  ///< for each pixel of an image, summed over the channels
  std::uint8_t* doubts;     ///< one for each tile of the chunk: must it be computed without the transforms?
  const float* bias;        ///< null: none
  float* output;            ///< planes
  std::int64_t leading;
  float limit;             ///< from which on tiles are in doubt
  float doubt_of_largest;  ///< what the largest magnitude of a patch counts beside its pixels' own growth
  std::int32_t first_tile;
  std::int32_t tiles;  ///< of this chunk
  std::int32_t image_tiles;
  std::int32_t row_tiles;
  std::int32_t channels;
  std::int32_t outputs;  ///< channels
  std::int32_t height;
  std::int32_t width;
  std::int32_t padding;
  std::int32_t output_height;  ///< before the pool, if not pooled
  std::int32_t output_width;
  bool pooled;  ///< the maximum of each 2 x 2 window, with stride 2, is stored
  bool relu;
  bool aligned;  ///< every tile's patch begins at a multiple of cnn_layer_winograd_vector() pixels, as do its rows
  /// Is the kernel before the input's that of the magnitudes? That one has waited for all that the transforms need.
  bool is_beside_magnitudes;
};

struct CnnLayerWinogradWeightsArguments {
  const float* weights;  ///< outputs x channels x filter x filter
  float* transformed;    ///< for each point a matrix of channels x leading, where a column is an output channel
  std::int64_t leading;
  std::int32_t channels;
  std::int32_t outputs;
};

/// The sums over the channels of every pixel's magnitude.
struct CnnLayerWinogradMagnitudesArguments {
  const float* input;  ///< planes: NCHW
  float* magnitudes;   ///< images x pixels
  std::int64_t pixels;
  std::int32_t channels;
  std::int32_t images;
  std::int32_t vector;  ///< pixels that a thread takes at once: 4 where every plane begins at 16 bytes, or 1
};

/// Pixels of a row that the transforms read at once, by a tile's columns.
[[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int cnn_layer_winograd_vector(std::int64_t outputs_x) {
  return outputs_x % 4 == 0 ? 4 : 2;
}

/// Tiles of a group of the transforms' kernels.
inline constexpr int kCnnLayerWinogradThreads = 128;

/// Rows of the input kernel's grid that tell which tiles are in doubt; each takes this part of a group's tiles.
inline constexpr int kCnnLayerWinogradDoubtRows = 8;

/// Threads of a group of the magnitudes' kernel that lie along pixels, and parts that their channels are summed in; one
/// warp for each part.
inline constexpr int kCnnLayerWinogradPixels = 32;
inline constexpr int kCnnLayerWinogradSlices = 16;

}  // namespace tessera::cuda
