// kernel_regression, naive: one thread a training row, and a second launch that adds up (kernel_regression_sums.cuh).
//
//   training set               distances    A thread compares one row with one query, number by number, from device
//   +-----------+              +---+        memory: neighbours read rows that lie far apart. The study's first version
//   | row 0     |  - query ->  | D |        added the weights by atomics, in the order in which they came.
//   | row 1     |              | D |
//   | ...       |              | . |        Queries are taken in rounds whose distances fit into the workspace.
//   +-----------+              +---+
#include "ops/kernel_regression/kernel_regression_rows.cuh"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ void regress_by_rows(const RegressionArguments<T>& regression) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= regression.training_rows) return;
  const T* const query = regression.queries + (regression.first_query + blockIdx.y) * regression.columns;
  regression.distances[blockIdx.y * regression.training_rows + row] =
      regression_distance(query, regression.training + row * regression.columns, regression.columns);
}

}  // namespace tessera::cuda

#define TESSERA_KERNEL_REGRESSION_NAIVE(T, type)                                      \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kRegressionThreads)     \
      tessera_kernel_regression_naive_##type(                                         \
          const __grid_constant__ tessera::cuda::RegressionArguments<T> regression) { \
    tessera::cuda::regress_by_rows(regression);                                       \
  }

TESSERA_KERNEL_REGRESSION_NAIVE(std::uint8_t, uint8)
TESSERA_KERNEL_REGRESSION_NAIVE(float, float32)
TESSERA_KERNEL_REGRESSION_NAIVE(double, float64)
