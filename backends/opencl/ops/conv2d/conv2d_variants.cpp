// The variants of conv2d, best first, plain one last. Lanes pay on GPUs, bands on processors; the marches take filters
// of 3, 5 and 7 alone, and what stands behind them every other size.
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

backend::VariantList<Conv2d> conv2d_variants() {
  return {conv2d_separable_lanes(), conv2d_separable_bands(),
          conv2d_separable(),       conv2d_separable_passes(),
          conv2d_marching_lanes(),  conv2d_marching_bands(),
          conv2d_marching(),        conv2d_register_tiled(),
          conv2d_tiled(),           conv2d_naive()};
}

}  // namespace tessera::opencl
