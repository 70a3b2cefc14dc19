// cnn_layer, implicit_gemm_panels: copies images into the workspace, with room around them.
//
//   planes, or one image with the channels of a pixel beside each other
//   +--------+            +------------+        One work-item, one row of the copy: zeros, the image's row as it lies in
//   | image  |   ---->    | 0  0  0  0 |        memory, zeros. `row_length` and `copied_length` are elements, so a pixel
//   +--------+            | 0 image  0 |        may hold all channels or one.
//                         +------------+
//
// Compiles alone with: -DFLOAT64=0
// Compiles alone with: -DFLOAT64=1
#include "ops/cnn_layer/cnn_layer_images.cl"

// The host's CnnLayerPad.
typedef struct {
  long all_rows;  // of all copies
  long rows, row_length;
  long copied_rows, copied_length;
  long top, left;
} Pad;
SIZE_ON_THE_HOST(Pad, 56);

__kernel void cnn_layer_pad(__global const real *restrict input, const ulong input_first,
                            __global real *restrict copied, const ulong copied_first, const Pad pad) {
  const long index = (long)get_global_id(0);
  if (index >= pad.all_rows) return;
  const long plane = quotient(index, pad.copied_rows);
  const long row = index - plane * pad.copied_rows - pad.top;
  __global real *const to = copied + copied_first + index * pad.copied_length;
  if (row < 0 || row >= pad.rows) {
    for (long x = 0; x < pad.copied_length; ++x) to[x] = 0;
  } else {
    __global const real *const from = input + input_first + (plane * pad.rows + row) * pad.row_length;
    for (long x = 0; x < pad.left; ++x) to[x] = 0;
    for (long x = 0; x < pad.row_length; ++x) to[pad.left + x] = from[x];
    for (long x = pad.left + pad.row_length; x < pad.copied_length; ++x) to[x] = 0;
  }
}
