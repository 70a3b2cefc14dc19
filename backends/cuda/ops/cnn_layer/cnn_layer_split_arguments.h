// What the kernels of cnn_layer's variant implicit_gemm_split take, by value, and how pixels split into fp16 lie in the
// workspace; read by host and device.
//
// A chunk is 8 channels of a pixel at one place of the filter: 16 bytes of fp16 in each of two planes, rounded numbers
// and what rounding left (cuda_split_shape.h). In the workspace lies, for each image and 8 channels, the plane of all
// pixels' chunks of rounded numbers and behind it that of the rests. Along k, chunk after chunk, come all places of the
// filter for 8 channels, then those for the next 8.
#pragma once

#include <cstdint>

#include "cuda_split_mma_shape.h"
#include "ops/cnn_layer/cnn_layer_gemm_arguments.h"
#include "ops/gemm/gemm_split_arguments.h"

namespace tessera::cuda {

/// Channels of a chunk, and chunks whose steps of k gemm's preparation interleaves: of 32 steps chunk q holds
/// 4 q .. + 3 and 16 + 4 q .. + 3.
inline constexpr int kCnnLayerChunk = 8, kCnnLayerChunkGroup = 4;
/// Most parts of an image whose largest pixels are found by a block each, and pixels that make one worth its while.
inline constexpr int kCnnLayerSplitMostParts = 256, kCnnLayerSplitPartPixels = 4096;

struct CnnLayerSplitArguments {
  /// `weights` is the matrix of float32 from which panels were prepared, a row of `weights_stride` steps for each
  /// output channel, and `input` as it was given. `aligned`: pairs of columns lie at multiples of 8 bytes. Groups and
  /// offsets are not used.
  CnnLayerGemmArguments<float> layer;
  const unsigned char* panels;     ///< of weights, as gemm's split prepares its A
  const GemmSplitNote* row_notes;  ///< of output channels
  unsigned char* pixels;           ///< chunks
  std::uint32_t* largest;          ///< bits of the largest finite pixel, of every part of every image
  std::int32_t* shifts;            ///< of every image: its pixels were multiplied by 2^shift
  std::uint32_t* tiny;             ///< of every pixel, how many of its channels fp16 holds with fewer bits than others
  std::uint8_t* seen;              ///< of every pixel, 1 if one of its channels is not zero
  GemmSplitNote* column_notes;
  std::int64_t channel_stride;  ///< of the input
  std::int64_t pixel_stride;
  std::int64_t plane_bytes;  ///< of the chunks of all pixels
  std::int64_t image_bytes;  ///< of an image's chunks
  std::int32_t images;
  std::int32_t parts;  ///< of an image
  std::int32_t plane_pixels;
  std::int32_t channel_chunks;
  std::int32_t chunks;  ///< along k
  std::int32_t panel_count;
  std::int32_t stages;
  std::int32_t all_columns;  ///< with those that fill up the last tile
  float doubt_of_one;        ///< the doubt for each pixel that fp16 holds with fewer bits than others
};

/// Weights (outputs x channels x places) as that matrix; what lies behind the last channel is 0.
struct CnnLayerSplitWeightsArguments {
  const float* weights;
  float* matrix;
  std::int64_t outputs;
  std::int64_t steps;  ///< of a row
  std::int32_t channels;
  std::int32_t places;
};

/// Tiles of output channels x pixels that are compiled. Twice as many warps as gemm's have half of the sums, which
/// leaves registers for gathering.
inline constexpr SplitMmaShape kCnnLayerSplitShapes[]{{2, 2, 2, 2, 2, 3, 4}, {2, 4, 4, 2, 1, 3, 2}};

}  // namespace tessera::cuda
