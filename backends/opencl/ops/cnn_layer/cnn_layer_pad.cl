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

__kernel void cnn_layer_pad(__global const real *restrict input, const ulong input_first,
                            __global real *restrict copied, const ulong copied_first, const long all_rows,
                            const long rows, const long row_length, const long copied_rows, const long copied_length,
                            const long top, const long left) {
  const long index = (long)get_global_id(0);
  if (index >= all_rows) return;
  const long plane = quotient(index, copied_rows);
  const long row = index - plane * copied_rows - top;
  __global real *const to = copied + copied_first + index * copied_length;
  if (row < 0 || row >= rows) {
    for (long x = 0; x < copied_length; ++x) to[x] = 0;
  } else {
    __global const real *const from = input + input_first + (plane * rows + row) * row_length;
    for (long x = 0; x < left; ++x) to[x] = 0;
    for (long x = 0; x < row_length; ++x) to[left + x] = from[x];
    for (long x = left + row_length; x < copied_length; ++x) to[x] = 0;
  }
}
