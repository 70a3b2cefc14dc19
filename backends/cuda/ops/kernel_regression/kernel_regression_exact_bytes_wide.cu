// kernel_regression, exact_bytes on Hopper: the kernels, of squared and of Euclidean distances.
#include "ops/kernel_regression/kernel_regression_exact_bytes_wide.cuh"

#define TESSERA_REGRESSION_BYTES_WIDE(name, is_euclidean)                                            \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kWideThreads, 1)                       \
      tessera_kernel_regression_exact_bytes_wide_##name(                                             \
          const __grid_constant__ tessera::cuda::RegressionTileArguments<std::uint8_t> regression) { \
    tessera::cuda::regress_bytes_wide<is_euclidean>(regression);                                     \
  }

TESSERA_REGRESSION_BYTES_WIDE(squared, false)
TESSERA_REGRESSION_BYTES_WIDE(euclidean, true)
