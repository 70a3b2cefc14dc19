// What the kernels of cnn_layer's variant implicit_gemm take, by value; read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// Steps along k that belong together (cnn_layer_pixels.cuh).
inline constexpr int kCnnLayerGroup = 16;

/// The convolution as a product: weights (output channels x steps) times pixels (steps x columns). A column is a pixel
/// of the convolution; `pooled` columns come four to a window of a 2 x 2 pool with stride 2, whose maximum is stored.
template <class T>
struct CnnLayerGemmArguments {
  const T* input;    ///< planes: NCHW
  const T* weights;  ///< a row of `weights_stride` elements for each step: prepared
  const T* bias;     ///< null: none
  /// With few channels: for all steps, those that fill up the last group too, how far from the pixel under the filter's
  /// corner it lies, and at which row (times 2^16) plus column of the filter.
  const std::int32_t* offsets;
  const std::int32_t* places;
  T* output;  ///< the result, or, where `is_part`, plain sums as planes, `split_stride` from part to part
  std::int64_t image_stride;
  std::int64_t plane_stride;
  std::int64_t weights_stride;
  std::int64_t split_stride;
  std::int64_t output_image_stride;
  std::int64_t output_channel_stride;
  std::int64_t output_pixel_stride;
  std::int32_t columns;  ///< of all images
  std::int32_t image_columns;
  std::int32_t row_windows;  ///< windows, or pixels if not pooled, of a row
  std::int32_t channels;
  std::int32_t outputs;  ///< channels
  std::int32_t height;
  std::int32_t width;
  std::int32_t filter_height;
  std::int32_t filter_width;
  std::int32_t stride;
  std::int32_t padding;
  std::int32_t groups;        ///< of all of k
  std::int32_t split_groups;  ///< of one block, along the grid's y
  std::int32_t steps;         ///< of all of k, without those that fill up the last group; where channels are few
  std::int32_t tiles_m;
  bool pooled;
  bool is_part;
  bool relu;
  bool aligned;  ///< four columns lie at a multiple of 16 bytes in the output
};

}  // namespace tessera::cuda
