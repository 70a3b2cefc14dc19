// cnn_layer, winograd: the magnitudes of pixels, and which tiles are in doubt. Options: those of
// cnn_layer_winograd_doubt.cl; SLICES, parts that a pixel's channels are summed in.
//
//   input, C channels      magnitudes             in doubt
//   +-----------+          +-----------+  n x n   one byte for each tile of the pass; with it a power of two, which
//   |           |+  sum    |  +---+    |  sums    brings transformed pixels below 2^14, and may serve who multiplies
//   |           ||  ---->  |  |   |    |  ---->
//   +-----------+| of |x|  +--+---+----+ of a tile
//    +-----------+
//
// First launch: a work-item adds up every SLICES-th channel of WIDTH pixels beside each other; a group takes ITEMS / SLICES
// such runs. Second one, which cnn_layer_winograd_split_input.cl does on its way: one work-item, one tile, whose patch it
// reads once for each of its rows.
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1 -DGROWTH_MATRIX=1.0f -DSLICES=1
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128 -DGROWTH_MATRIX=1.0 -DSLICES=8
#include "ops/cnn_layer/cnn_layer_winograd_doubt.cl"

#define RUNS (ITEMS / SLICES)

// Magnitudes of one channel, `there` of which exist.
static inline vector magnitudes_of(__global const real *from, const long pixel_step, const int there) {
#if WIDTH == 1
  return there > 0 ? fabs(*from) : 0;
#else
  if (pixel_step == 1 && there >= WIDTH) return fabs(LOAD_VECTOR(0, from));
  real some[WIDTH];
  for (int i = 0; i < WIDTH; ++i) some[i] = i < there ? from[i * pixel_step] : 0;
  return fabs(LOAD_VECTOR(0, some));
#endif
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void cnn_layer_winograd_magnitudes(
    __global const real *restrict input, const ulong input_first, __global uchar *restrict workspace,
    const ulong workspace_first, const Layer layer, const Winograd winograd, const long chunk_number) {
  const int item = (int)get_local_id(0);
  const long pixels = layer.height * layer.width;
  const long runs_of_image = quotient(pixels + WIDTH - 1, WIDTH);
  const long run = (long)get_group_id(0) * RUNS + item % RUNS;
  const long in_pass = quotient(run, runs_of_image);
  const long image = first_image_of_pass(chunk_number, &winograd) + in_pass;
  const long pixel = (run - in_pass * runs_of_image) * WIDTH;
  const int there = in_pass < winograd.images && image < layer.batch ? (int)min((long)WIDTH, pixels - pixel) : 0;
  vector sum = (vector)(0);
  if (there > 0) {
    input += input_first + image * layer.input_image + pixel * layer.input_pixel;
#pragma unroll 8
    for (long channel = item / RUNS; channel < layer.input_channels; channel += SLICES) {
      sum += magnitudes_of(input + channel * layer.input_channel, layer.input_pixel, there);
    }
  }
#if SLICES > 1
  __local real parts[SLICES][RUNS];
  parts[item / RUNS][item % RUNS] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item >= RUNS) return;
  sum = 0;
  for (int slice = 0; slice < SLICES; ++slice) sum += parts[slice][item];
#endif
  if (there <= 0) return;
  __global real *const magnitudes = IN_WORKSPACE(real, magnitudes_at) + in_pass * pixels + pixel;
  if (there == WIDTH) {
    STORE_VECTOR(sum, 0, magnitudes);
  } else {
    real some[WIDTH];
    STORE_VECTOR(sum, 0, some);
    for (int i = 0; i < there; ++i) magnitudes[i] = some[i];
  }
}

__kernel void cnn_layer_winograd_doubts(__global uchar *restrict workspace, const ulong workspace_first,
                                        const Layer layer, const Winograd winograd, const long chunk_number) {
  const int tile = (int)get_global_id(0);
  const int first_image = first_image_of_pass(chunk_number, &winograd);
  const Place place = place_of_tile(tile, first_image, &layer, &winograd);
  if (tile >= winograd.chunk * winograd.chunks) return;
  int is_in_doubt = 0;
  real most = 0;
  if (place.image >= 0) {
    __global const real *const magnitudes =
        IN_WORKSPACE(const real, magnitudes_at) + (place.image - first_image) * layer.height * layer.width;
    for (int o = 0; o < OUTPUTS; ++o) is_in_doubt |= is_row_in_doubt(o, magnitudes, place, &layer, &winograd, &most);
  }
  IN_WORKSPACE(uchar, doubts_at)[tile] = is_in_doubt;
  IN_WORKSPACE(int, shifts_at)[tile] = shift_of_largest(most, &winograd);
}
