// The order of the list is the order of choice: separable takes filters of rank 1 alone.
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cpu_tbb {

backend::VariantList<Conv2d> conv2d_variants() {
  return {conv2d_separable(),   conv2d_marching(),   conv2d_unrolled(),  conv2d_vendor_opencv(),
          conv2d_private_sum(), conv2d_accumulate(), conv2d_sequential()};
}

}  // namespace tessera::cpu_tbb
