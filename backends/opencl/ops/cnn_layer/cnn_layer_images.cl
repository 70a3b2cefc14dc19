// What every cnn_layer kernel shares. Option: FLOAT64, 0 or 1.
//
//   sum(o, y, x)    = bias(o) + sum over c, i, j of weight(o, c, i, j) * input(c, y * stride + i - padding,
//                                                                              x * stride + j - padding)
//   output(o, y, x) = max(0, sum(o, y', x')) of the largest sum of the window at y * pool_stride, x * pool_stride
//
// Element (channel, y, x) of an image lies at channel * its channel's step + (y * width + x) * its pixel's step, so one
// kernel serves both layouts. All in 64 bits: an image may have more than 2^31 elements.
//
// Compiles alone with: -DFLOAT64=0
// Compiles alone with: -DFLOAT64=1
#include "ops/host_struct.cl"
#include "ops/quotient.cl"
#include "ops/real.cl"

// The host's CnnLayerShape.
typedef struct {
  long batch, input_channels, output_channels;
  long height, width;
  long filter_height, filter_width;
  long stride, padding;
  long pool_size, pool_stride;
  long convolved_height, convolved_width;  // before the pool
  long output_height, output_width;
  long input_image, input_channel, input_pixel;  // elements from one to the next
  long output_image, output_channel, output_pixel;
  int has_bias;
  int relu;
} Layer;
SIZE_ON_THE_HOST(Layer, 176);

// What the parameters of kernels that compute outputs begin with: operands, each with the first element that is its own.
// Without a bias, that operand is null.
#define CNN_LAYER_OPERANDS                                                                               \
  __global const real *restrict input, const ulong input_first, __global const real *restrict weights,   \
      const ulong weights_first, __global const real *restrict bias, const ulong bias_first,             \
      __global real *restrict output, const ulong output_first

// The larger of two; NaN if one is.
static inline real larger(const real a, const real b) {
  return a > b || a != a ? a : b;
}

// Bias and ReLU. They come after the pool: both keep an order, so the result is the same. A NaN stays one.
static inline real finished(const real sum, const real bias, const int relu) {
  const real value = sum + bias;
  return relu && value < 0 ? 0 : value;
}
