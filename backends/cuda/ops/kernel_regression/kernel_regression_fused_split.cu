// kernel_regression, fused_split: the kernels, of squared and of Euclidean distances, of problems with one sum and with
// several, for tiles of so many queries.
#include "ops/kernel_regression/kernel_regression_fused_split.cuh"

#define TESSERA_REGRESSION_SPLIT(queries, number, distance, sums, is_euclidean, has_sums_in_memory)                   \
  static_assert(tessera::cuda::regression_split_queries(tessera::cuda::kRegressionSplitShapes[number]) == (queries)); \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kSplitThreads, 1)                                       \
      tessera_kernel_regression_fused_split_##distance##_##sums##_##queries(                                          \
          const __grid_constant__ tessera::cuda::RegressionTileArguments<float> regression) {                         \
    tessera::cuda::regress_split<tessera::cuda::kRegressionSplitShapes[number], is_euclidean, has_sums_in_memory>(    \
        regression);                                                                                                  \
  }
#define TESSERA_REGRESSION_SPLIT_SHAPE(queries, number)                      \
  TESSERA_REGRESSION_SPLIT(queries, number, squared, one_sum, false, false)  \
  TESSERA_REGRESSION_SPLIT(queries, number, squared, many_sums, false, true) \
  TESSERA_REGRESSION_SPLIT(queries, number, euclidean, one_sum, true, false) \
  TESSERA_REGRESSION_SPLIT(queries, number, euclidean, many_sums, true, true)

TESSERA_REGRESSION_SPLIT_SHAPE(256, 0)
TESSERA_REGRESSION_SPLIT_SHAPE(128, 1)
