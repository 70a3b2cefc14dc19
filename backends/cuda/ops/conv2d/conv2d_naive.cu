// conv2d, naive: one thread computes one pixel of the output from device memory alone. The reference for what a tile in
// shared memory gains.
//
//     image                         a block  = block_columns x block_rows of the output
//     +----------------------+      a thread = one pixel, a loop over the filter
//     |     +-------+        |
//     |     | filter|        |      across: a warp reads neighbouring pixels of a row for each weight
//     |     |   o   |        |      down:   neighbouring pixels of a column, as the published study's plain kernel did:
//     |     +-------+        |              each lane's pixel lies in another row, a transaction of its own
//     +----------------------+
//     Every pixel is read once for each weight, mostly from the caches. All lanes read the
// same weight. What lies outside counts as 0, which is asked at every tap. The grid's y and z are at most 65,535
// blocks, so they loop on.
#include "ops/conv2d/conv2d_pixels.cuh"

namespace tessera::cuda {

/// kColumns x kRows: the block's shape where it is known when this is compiled; 0: as it is launched.
template <class Pixel, int kColumns, int kRows, bool kDown>
__device__ void conv2d_naive(const Conv2dArguments<Pixel>& conv2d) {
  using Sum = Conv2dSum<Pixel>;
  const unsigned columns = kColumns != 0 ? kColumns : kDown ? blockDim.y : blockDim.x;
  const unsigned rows = kRows != 0 ? kRows : kDown ? blockDim.x : blockDim.y;
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * columns + (kDown ? threadIdx.y : threadIdx.x);
  if (x >= conv2d.output_width) return;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * rows + (kDown ? threadIdx.x : threadIdx.y);
  const std::int64_t row_step = static_cast<std::int64_t>(gridDim.y) * rows;
  for (std::int64_t index = blockIdx.z; index < conv2d.batch; index += gridDim.z) {
    const Pixel* const image = conv2d.image + index * conv2d.height * conv2d.width;
    Sum* const output = conv2d.output + index * conv2d.output_height * conv2d.output_width;
    for (std::int64_t y = first_row; y < conv2d.output_height; y += row_step) {
      Sum sum = 0;
      const Sum* weight = conv2d.weights;
      for (int i = 0; i < conv2d.filter_height; ++i) {
        for (int j = 0; j < conv2d.filter_width; ++j) {
          sum += *weight++ * pixel_at(conv2d, image, y + i - conv2d.anchor_y, x + j - conv2d.anchor_x);
        }
      }
      output[y * conv2d.output_width + x] = sum;
    }
  }
}

}  // namespace tessera::cuda

// The preferred block is compiled for its shape: 730 us, and 785 with the shape as launched (int32, 4096 x 4096,
// 7 x 7, an H200).
#define TESSERA_CONV2D_NAIVE(Pixel, name, columns, rows, is_down, ...)                                    \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                               \
      tessera_conv2d_naive_##name(const __grid_constant__ tessera::cuda::Conv2dArguments<Pixel> conv2d) { \
    tessera::cuda::conv2d_naive<Pixel, columns, rows, is_down>(conv2d);                                   \
  }
#define TESSERA_CONV2D_NAIVE_ALL(Pixel, type)                                                    \
  TESSERA_CONV2D_NAIVE(Pixel, type, 32, 8, false, 32 * 8)                                        \
  TESSERA_CONV2D_NAIVE(Pixel, type##_across, 0, 0, false, tessera::cuda::kConv2dNaiveThreads, 2) \
  TESSERA_CONV2D_NAIVE(Pixel, type##_down, 0, 0, true, tessera::cuda::kConv2dNaiveThreads, 2)

TESSERA_CONV2D_NAIVE_ALL(std::uint8_t, uint8)
TESSERA_CONV2D_NAIVE_ALL(std::int16_t, int16)
TESSERA_CONV2D_NAIVE_ALL(std::int32_t, int32)
TESSERA_CONV2D_NAIVE_ALL(float, float32)
