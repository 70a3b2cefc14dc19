// What the kernels of conv2d that take filters of every size are given by value: register_tiled and separable_passes.
// Read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// Output (y, x) of each image is the sum over (i, j) of weight (i, j) * image(y + i - anchor_y, x + j - anchor_x),
/// pixels outside of the image being 0. What is summed in, float or integers modulo 2^32, is the function's. Outputs
/// are float where pixels are, else int32.
struct Conv2dTileArguments {
  const void* image;
  void* output;
  const void* weights;  ///< in device memory, in segments: see mathematics/conv2d_tiles.h
  std::int64_t batch;
  std::int64_t height;
  std::int64_t width;
  std::int64_t output_height;
  std::int64_t output_width;
  std::int64_t blocks_down;  ///< tiles or runs below each other
  int rows;                  ///< of the output, of a run
  int filter_height;
  int filter_width;
  int anchor_y;
  int anchor_x;
  int pixel_bytes;  ///< 1: uint8, 2: int16, 4: what is summed in
};

}  // namespace tessera::cuda
