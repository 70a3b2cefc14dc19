// conv2d, tiled: a block brings the pixels under its tile, and the halo that the filter reaches, into shared memory
// once.
//
//     +-------------------------+      t = 8, 16 or 32, the tunable `tile`
//     |  halo                   |      a block  = t x t threads = t x t pixels of the output
//     |    +---------------+    |      a thread = one pixel; it fetches (t + filter - 1)^2 / t^2 pixels for all, then
//     |    |               |    |                 adds filter^2 products from shared memory
//     |    |  t x t output |    |
//     |    |               |    |      Every pixel is read (1 + (filter - 1) / t)^2 times from device memory, not
//     |    +---------------+    |      filter^2 times; zeros beyond the image's edge stand in shared memory, so that no
//     |                         |      tap asks. Weights are the same for all lanes.
//     +-------------------------+
//
// This is the study's fast version. It is bound by shared memory: one read for each product.
// The grid's y and z are at most 65,535 blocks, so they loop on.
#include "ops/conv2d/conv2d_pixels.cuh"

namespace tessera::cuda {

template <class Pixel, int kTile>
__device__ void conv2d_tiled(const Conv2dArguments<Pixel>& conv2d) {
  using Sum = Conv2dSum<Pixel>;
  extern __shared__ unsigned char shared_memory[];
  Sum* const tile = reinterpret_cast<Sum*>(shared_memory);  // (t + filter_height - 1) rows of t + filter_width - 1
  const int tile_rows = kTile + conv2d.filter_height - 1;
  const int tile_columns = kTile + conv2d.filter_width - 1;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t column0 = static_cast<std::int64_t>(blockIdx.x) * kTile;
  const std::int64_t row_step = static_cast<std::int64_t>(gridDim.y) * kTile;
  for (std::int64_t index = blockIdx.z; index < conv2d.batch; index += gridDim.z) {
    const Pixel* const image = conv2d.image + index * conv2d.height * conv2d.width;
    Sum* const output = conv2d.output + index * conv2d.output_height * conv2d.output_width;
    for (std::int64_t row0 = static_cast<std::int64_t>(blockIdx.y) * kTile; row0 < conv2d.output_height;
         row0 += row_step) {
      __syncthreads();  // slower threads still read the tile before
      for (int i = y; i < tile_rows; i += kTile) {
        for (int j = x; j < tile_columns; j += kTile) {
          tile[i * tile_columns + j] =
              pixel_at(conv2d, image, row0 + i - conv2d.anchor_y, column0 + j - conv2d.anchor_x);
        }
      }
      __syncthreads();
      if (row0 + y >= conv2d.output_height || column0 + x >= conv2d.output_width) continue;
      Sum sum = 0;
      const Sum* weight = conv2d.weights;
      for (int i = 0; i < conv2d.filter_height; ++i) {
        const Sum* const row = tile + (y + i) * tile_columns + x;
        for (int j = 0; j < conv2d.filter_width; ++j) sum += *weight++ * row[j];
      }
      output[(row0 + y) * conv2d.output_width + column0 + x] = sum;
    }
  }
}

}  // namespace tessera::cuda

#define TESSERA_CONV2D_TILED(Pixel, type, tile)                                                                    \
  extern "C" __global__ void __launch_bounds__(tile* tile)                                                         \
      tessera_conv2d_tiled_##type##_##tile(const __grid_constant__ tessera::cuda::Conv2dArguments<Pixel> conv2d) { \
    tessera::cuda::conv2d_tiled<Pixel, tile>(conv2d);                                                              \
  }
#define TESSERA_CONV2D_TILED_ALL(tile)            \
  TESSERA_CONV2D_TILED(std::uint8_t, uint8, tile) \
  TESSERA_CONV2D_TILED(std::int16_t, int16, tile) \
  TESSERA_CONV2D_TILED(std::int32_t, int32, tile) \
  TESSERA_CONV2D_TILED(float, float32, tile)

TESSERA_CONV2D_TILED_ALL(8)
TESSERA_CONV2D_TILED_ALL(16)
TESSERA_CONV2D_TILED_ALL(32)
