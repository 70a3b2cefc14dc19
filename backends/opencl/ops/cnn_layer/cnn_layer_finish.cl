// cnn_layer, implicit_gemm_local and implicit_gemm_panels: ends what these left as plain sums in the workspace: adds up
// parts, pools, adds the bias, applies ReLU.
//
//   parts of one plane                              One work-item, one output: the parts of each place of its window,
//   +--------+  +--------+      +--------+          one after the other, then the largest. Every sum is read once, or
//   | window |+ | window |+ ... |        | -> max   as often as windows overlap. Neighbouring work-items have
//   +--------+  +--------+      +--------+          neighbouring outputs of a plane.
//
// Compiles alone with: -DFLOAT64=0
// Compiles alone with: -DFLOAT64=1
#include "ops/cnn_layer/cnn_layer_images.cl"
#include "ops/sum_of_parts.cl"

// The host's CnnLayerParts.
typedef struct {
  long count;
  long step;  // elements from one part to the next
} Parts;
SIZE_ON_THE_HOST(Parts, 16);

__kernel void cnn_layer_finish(__global const real *restrict sums, const ulong sums_first,
                               __global const real *restrict bias, const ulong bias_first,
                               __global real *restrict output, const ulong output_first, const Layer layer,
                               const Parts parts) {
  const long index = (long)get_global_id(0);
  if (index >= layer.batch * layer.output_image) return;
  const long outputs_of_plane = layer.output_height * layer.output_width;
  const long plane = quotient(index, outputs_of_plane);
  const long pixel = index - plane * outputs_of_plane;
  const long image = quotient(plane, layer.output_channels);
  const long channel = plane - image * layer.output_channels;
  const long y = quotient(pixel, layer.output_width);
  const long x = pixel - y * layer.output_width;
  sums += sums_first + (plane * layer.convolved_height + y * layer.pool_stride) * layer.convolved_width +
          x * layer.pool_stride;
  real most = 0;
  for (long i = 0; i < layer.pool_size; ++i) {
    for (long j = 0; j < layer.pool_size; ++j) {
      const real sum = sum_of_parts(sums + i * layer.convolved_width + j, parts.count, parts.step);
      most = i + j == 0 ? sum : larger(most, sum);
    }
  }
  output[output_first + image * layer.output_image + channel * layer.output_channel + pixel * layer.output_pixel] =
      finished(most, layer.has_bias ? bias[bias_first + channel] : 0, layer.relu);
}
