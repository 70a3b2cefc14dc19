// cnn_layer, winograd: transforms weights, once for each set of them. Options: those of cnn_layer_winograd_tiles.cl;
// FILTER_MATRIX, its numbers row by row (mathematics/cnn_layer_winograd.h).
//
//   weights: outputs x channels        prepared: for each point         behind them: the weights as they were, for
//   x FILTER x FILTER                  panels of output channels        tiles that are computed without transforms
//   +---+                              step 0: o o o o
//   | w |   G w G'   POINTS x POINTS   step 1: o o o o, steps are
//   +---+  ------->  numbers      -->  ...     input channels
//
// One work-item, one filter: in double, rounded once. Neighbours write neighbouring output channels; those behind the last
// one are 0.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1 -DFILTER_MATRIX=1.0
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128 -DFILTER_MATRIX=1.0
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "ops/cnn_layer/cnn_layer_winograd_tiles.cl"

__constant double filter_matrix[POINTS][FILTER] = {FILTER_MATRIX};

__kernel void cnn_layer_winograd_weights(__global const real *restrict weights, const ulong weights_first,
                                         __global real *restrict prepared, const ulong prepared_first,
                                         __global real *restrict plain, const ulong plain_first, const Layer layer,
                                         const Winograd winograd) {
  const long index = (long)get_global_id(0);
  const long padded_outputs = winograd.panels * winograd.panel;
  const long channel = quotient(index, padded_outputs);
  if (channel >= layer.input_channels) return;
  const long output = index - channel * padded_outputs;
  const long filter = (output * layer.input_channels + channel) * (FILTER * FILTER);
  double from[FILTER][FILTER];
  for (int i = 0; i < FILTER * FILTER; ++i) {
    real weight = 0;
    if (output < layer.output_channels) {
      weight = weights[weights_first + filter + i];
      plain[plain_first + filter + i] = weight;
    }
    from[i / FILTER][i % FILTER] = weight;
  }
  double columns_done[POINTS][FILTER];
  for (int i = 0; i < POINTS; ++i) {
    for (int x = 0; x < FILTER; ++x) {
      double sum = 0;
      for (int y = 0; y < FILTER; ++y) sum += filter_matrix[i][y] * from[y][x];
      columns_done[i][x] = sum;
    }
  }
  const long panel = quotient(output, winograd.panel);
  const long matrix = winograd.panels * layer.input_channels * winograd.panel;
  prepared += prepared_first + (panel * layer.input_channels + channel) * winograd.panel + output - panel * winograd.panel;
  for (int i = 0; i < POINTS; ++i) {
    for (int j = 0; j < POINTS; ++j) {
      double sum = 0;
      for (int x = 0; x < FILTER; ++x) sum += filter_matrix[j][x] * columns_done[i][x];
      prepared[(i * POINTS + j) * matrix] = (real)sum;
    }
  }
}
