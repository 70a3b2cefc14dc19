// The order of the list is the order of choice: separable and separable_passes take filters of rank 1 alone,
// separable and marching those of 3, 5 and 7. cuDNN stands behind tiled, which takes every problem, so that it is not
// taken unless asked for.
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cuda {

backend::VariantList<Conv2d> conv2d_variants() {
  return {conv2d_separable(), conv2d_separable_passes(), conv2d_marching(), conv2d_register_tiled(),
          conv2d_tiled(),     conv2d_vendor_cudnn(),     conv2d_naive()};
}

}  // namespace tessera::cuda
