// conv2d, tiled: the pixels under a square tile of the output and its halo are brought into local memory once. TILE is
// its edge.
//
//     +-------------------------+       A work-group is TILE x TILE work-items, each with one pixel of the output. They
//     |  halo                   |       fetch (TILE + filter - 1)^2 pixels together, zeros beyond the image's edge; after
//     |    +---------------+    |       the barrier each adds its products from local memory, and asks for nothing.
//     |    |  TILE x TILE  |    |
//     |    |    output     |    |       A pixel is read (1 + (filter - 1) / TILE)^2 times from global memory instead of
//     |    +---------------+    |       filter^2 times. Bound by local memory: one read for each product.
//     +-------------------------+
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DTILE=16
#include "ops/conv2d/conv2d_images.cl"

__attribute__((reqd_work_group_size(TILE, TILE, 1))) __kernel void conv2d_tiled(
    CONV2D_PARAMETERS, __global const sum_t *restrict weights, __local sum_t *tile) {
  const Place place = place_of_group((long)get_group_id(0), TILE, TILE, conv2d.output_width, conv2d.output_height);
  const int x = (int)get_local_id(0);
  const int y = (int)get_local_id(1);
  const int tile_rows = TILE + conv2d.filter_height - 1;
  const int tile_columns = TILE + conv2d.filter_width - 1;
  image += image_first + place.image * conv2d.height * conv2d.width;
  output += output_first + place.image * conv2d.output_height * conv2d.output_width;
  for (int i = y; i < tile_rows; i += TILE) {
    for (int j = x; j < tile_columns; j += TILE) {
      tile[i * tile_columns + j] =
          pixel_at(image, conv2d.height, conv2d.width, place.row + i - conv2d.anchor_y,
                   place.column + j - conv2d.anchor_x);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (place.row + y >= conv2d.output_height || place.column + x >= conv2d.output_width) return;
  sum_t sum = 0;
  for (int i = 0; i < conv2d.filter_height; ++i) {
    for (int j = 0; j < conv2d.filter_width; ++j) {
      sum = MULTIPLY_ADD(weights[i * conv2d.filter_width + j], tile[(y + i) * tile_columns + x + j], sum);
    }
  }
  output[(place.row + y) * conv2d.output_width + place.column + x] = sum;
}
