// kernel_regression: the launch that makes results of distances; see kernel_regression_sums.cuh.
#include "ops/kernel_regression/kernel_regression_sums.cuh"

#define TESSERA_KERNEL_REGRESSION_SUMS(T, type)                                       \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kRegressionThreads)     \
      tessera_kernel_regression_sums_##type(                                          \
          const __grid_constant__ tessera::cuda::RegressionArguments<T> regression) { \
    tessera::cuda::write_results(regression);                                         \
  }

TESSERA_KERNEL_REGRESSION_SUMS(std::uint8_t, uint8)
TESSERA_KERNEL_REGRESSION_SUMS(float, float32)
TESSERA_KERNEL_REGRESSION_SUMS(double, float64)
