// cnn_layer, implicit_gemm_local and implicit_gemm_panels: the convolution as a product of matrices; what both share.
// Weights, output channels x steps, times pixels, steps x columns; the second one is never stored. A step is one place of
// the filter in one channel, a column one pixel before the pool.
//
//   prepared weights:   panel of channels | panel | ...         then, for each step, three ints: how far from the pixel
//                       step 0: o, o, o     step 0                under the filter's corner its pixel lies, and at which
//                       step 1: o, o, o     ...                   row and column of the filter
//
// Steps are filled up to a multiple of what a kernel walks at once: with weights 0 and a row that is nowhere, so that
// their pixels are never read.
//
// Compiles alone with: nothing
#include "ops/host_struct.cl"

// The host's CnnLayerProduct.
typedef struct {
  long steps;         // along k
  long padded_steps;  // in prepared weights
  long part_steps;    // of a part; a multiple of what is walked at once
  long panel;         // output channels of a panel of prepared weights
  long channel_blocks;
  long columns;        // of all images, or tiles of them in a row
  long image_columns;  // of one image
  long row_windows;    // windows, or pixels without a pool, of a row
  // Of the result: elements from one to the next. `part` is 0 for the operator's output.
  long target_part, target_image, target_channel, target_pixel;
  int pooled;   // windows of 2 x 2 beside each other are pooled here
  int is_part;  // plain sums for cnn_layer_finish.cl
  int grouped;  // 8 steps from a multiple of 8 on are channels of one place of the filter
  int unused;   // up to a multiple of 8
} Product;
SIZE_ON_THE_HOST(Product, 112);

// The ints of steps, behind so many panels of prepared weights. A pointer of their own would cost each launch some time.
#define PLACES_BEHIND(weights, product, panels) \
  ((__global const int *)((weights) + (panels) * (product).padded_steps * (product).panel))

#define NOWHERE (1 << 30)
