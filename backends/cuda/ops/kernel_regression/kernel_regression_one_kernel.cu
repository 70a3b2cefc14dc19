// kernel_regression, one_kernel: one block a query, everything in one launch.
//
//   block q          distances of q The study's second version had 4 threads a block. Here the threads share out the
//   thread 0 1 2 3   +-+-+-+-+-+--- rows, keep the distances in device memory, and add up as kernel_regression_sums.cuh
//          v v v v-> | | | | | |    says. A thread reads again what it wrote itself but for the nearest row's distance,
//   rows of the set  +-+-+-+-+-+--- for which the search for it has synchronized.
#include "ops/kernel_regression/kernel_regression_sums.cuh"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ void regress_by_blocks(const RegressionArguments<T>& regression) {
  const T* const query = regression.queries + (regression.first_query + blockIdx.x) * regression.columns;
  for (std::int64_t row = threadIdx.x; row < regression.training_rows; row += blockDim.x) {
    regression.distances[blockIdx.x * regression.training_rows + row] =
        regression_distance(query, regression.training + row * regression.columns, regression.columns);
  }
  write_results(regression);
}

}  // namespace tessera::cuda

#define TESSERA_KERNEL_REGRESSION_ONE_KERNEL(T, type)                                 \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kRegressionThreads)     \
      tessera_kernel_regression_one_kernel_##type(                                    \
          const __grid_constant__ tessera::cuda::RegressionArguments<T> regression) { \
    tessera::cuda::regress_by_blocks(regression);                                     \
  }

TESSERA_KERNEL_REGRESSION_ONE_KERNEL(std::uint8_t, uint8)
TESSERA_KERNEL_REGRESSION_ONE_KERNEL(float, float32)
TESSERA_KERNEL_REGRESSION_ONE_KERNEL(double, float64)
