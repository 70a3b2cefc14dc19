// cnn_layer, naive: one work-item, one output.
//
//   input, C channels            output, one channel       A work-item walks over its pool's window and for each sum of
//   +-----------+                +---------+               it over all channels and the filter. Each product reads one
//   | +---+     |+               | #       |               pixel and one weight from global memory: nothing is shared,
//   | |   |     ||  -> sum ->    |         |               overlaps come from the caches alone.
//   | +---+     ||               +---------+
//   +-----------+|                                         Work-items stand in the order in which the outputs lie in
//    +-----------+                                         memory, whichever layout that is.
//
// Compiles alone with: -DFLOAT64=0
// Compiles alone with: -DFLOAT64=1
#include "ops/cnn_layer/cnn_layer_images.cl"

static inline real sum_at(__global const real *input, __global const real *weights, const long y, const long x,
                          const Layer layer) {
  const long first_i = max(0L, -y);
  const long last_i = min(layer.filter_height, layer.height - y);
  const long first_j = max(0L, -x);
  const long last_j = min(layer.filter_width, layer.width - x);
  real sum = 0;
  for (long c = 0; c < layer.input_channels; ++c) {
    for (long i = first_i; i < last_i; ++i) {
      for (long j = first_j; j < last_j; ++j) {
        sum += weights[(c * layer.filter_height + i) * layer.filter_width + j] *
               input[c * layer.input_channel + ((y + i) * layer.width + x + j) * layer.input_pixel];
      }
    }
  }
  return sum;
}

__kernel void cnn_layer_naive(CNN_LAYER_OPERANDS, const Layer layer) {
  const long index = (long)get_global_id(0);
  if (index >= layer.batch * layer.output_image) return;
  const long image = quotient(index, layer.output_image);
  const long in_image = index - image * layer.output_image;
  // One of the two steps is 1, and tells what goes fastest.
  const long inner_size = layer.output_pixel == 1 ? layer.output_channel : layer.output_pixel;
  const long outer = quotient(in_image, inner_size);
  const long inner = in_image - outer * inner_size;
  const long channel = layer.output_pixel == 1 ? outer : inner;
  const long pixel = layer.output_pixel == 1 ? inner : outer;
  const long output_y = quotient(pixel, layer.output_width);
  const long y = output_y * layer.pool_stride;
  const long x = (pixel - output_y * layer.output_width) * layer.pool_stride;

  input += input_first + image * layer.input_image;
  weights += weights_first + channel * layer.input_channels * layer.filter_height * layer.filter_width;
  real most = 0;
  for (long i = 0; i < layer.pool_size; ++i) {
    for (long j = 0; j < layer.pool_size; ++j) {
      const real sum = sum_at(input, weights, (y + i) * layer.stride - layer.padding,
                              (x + j) * layer.stride - layer.padding, layer);
      most = i + j == 0 ? sum : larger(most, sum);
    }
  }
  output[output_first + index] = finished(most, layer.has_bias ? bias[bias_first + channel] : 0, layer.relu);
}
