// conv2d, naive: one work-item, one pixel of the output.
//
//     +----------------------+        A work-group is 32 x 8 work-items, or as the tuning says (fewer where a device allows
//     |     +-------+        |        fewer). Each takes all weights in turn, each with the pixel beneath it; what
//     |     | filter|        |        lies outside counts as 0 and is asked for at every tap. A pixel is read once for
//     |     |   o   |        |        each weight, from global memory or whatever cache there is: nothing is reused on
//     |     +-------+        |        purpose, so that it works wherever OpenCL does and others can be compared with it.
//     +----------------------+
//
// Neighbouring work-items have pixels beside each other, or below each other where DOWN is 1, as the published study's
// plain kernel had them: then each reads from a row of its own.
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DGROUP_X=32 -DGROUP_Y=8 -DDOWN=0
// Compiles alone with: -DPIXEL=float -DIS_FLOAT=1 -DGROUP_X=16 -DGROUP_Y=16 -DDOWN=1
#include "ops/conv2d/conv2d_images.cl"

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) __kernel void conv2d_naive(
    CONV2D_PARAMETERS, __global const sum_t *restrict weights) {
#if DOWN
  const Place place =
      place_of_group((long)get_group_id(0), GROUP_Y, GROUP_X, conv2d.output_width, conv2d.output_height);
  const long y = place.row + (long)get_local_id(0);
  const long x = place.column + (long)get_local_id(1);
#else
  const Place place =
      place_of_group((long)get_group_id(0), GROUP_X, GROUP_Y, conv2d.output_width, conv2d.output_height);
  const long y = place.row + (long)get_local_id(1);
  const long x = place.column + (long)get_local_id(0);
#endif
  if (y >= conv2d.output_height || x >= conv2d.output_width) return;

  image += image_first + place.image * conv2d.height * conv2d.width;
  output += output_first + place.image * conv2d.output_height * conv2d.output_width;
  sum_t sum = 0;
  for (int i = 0; i < conv2d.filter_height; ++i) {
    for (int j = 0; j < conv2d.filter_width; ++j) {
      const sum_t pixel =
          pixel_at(image, conv2d.height, conv2d.width, y + i - conv2d.anchor_y, x + j - conv2d.anchor_x);
      sum = MULTIPLY_ADD(weights[i * conv2d.filter_width + j], pixel, sum);
    }
  }
  output[y * conv2d.output_width + x] = sum;
}
