// kernel_regression, two_kernels: the matrix of differences from one query, written out, then its rows' norms and sums.
//
//   training set - query      differences      norms        The study's third version, whose blocks were lines (1D) or
//   +---------------+         +---------+      +-+          rectangles (2D) of threads. Here each thread of the first
//   | . . . . . . . |   ->    | . . . . |  ->  | |  -> sums launch computes a difference. Of the second, those side by
//   | . . . . . . . |         | . . . . |      | |          side share a row and join what they have; where a block is
//   +---------------+         +---------+      +-+          one thread wide, a norm is a thread's own loop.
//
// Rows are taken in chunks whose differences fit into the workspace, one query after the other. The norms launch reads
// the rows too: a row that is not finite, or too long, is infinitely far whatever the difference is.
#include "ops/kernel_regression/kernel_regression_rows.cuh"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ void write_differences(const RegressionArguments<T>& regression) {
  using Difference = typename RegressionArguments<T>::Difference;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t in_chunk = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t row = regression.first_row + in_chunk;
  if (column >= regression.columns || row >= regression.last_row) return;
  regression.differences[in_chunk * regression.columns + column] =
      static_cast<Difference>(regression.queries[regression.first_query * regression.columns + column] -
                              regression.training[row * regression.columns + column]);
}

template <class T>
__device__ __forceinline__ void write_norms(const RegressionArguments<T>& regression) {
  using Squared = typename RegressionArguments<T>::Squared;
  __shared__ Squared sums[kRegressionThreads];
  __shared__ Squared lengths[kRegressionThreads];
  __shared__ Squared query_lengths[kRegressionThreads];
  const int x = static_cast<int>(threadIdx.x);
  const int item = static_cast<int>(threadIdx.y * blockDim.x) + x;
  const std::int64_t in_chunk = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t row = regression.first_row + in_chunk;
  const bool is_there = row < regression.last_row;
  Squared sum = 0;
  Squared length = 0;
  Squared query_length = 0;
  for (std::int64_t column = x; is_there && column < regression.columns; column += blockDim.x) {
    const Squared away = static_cast<Squared>(regression.differences[in_chunk * regression.columns + column]);
    sum += away * away;
    if constexpr (std::is_floating_point_v<T>) {
      const Squared number = regression.training[row * regression.columns + column];
      const Squared of_query = regression.queries[regression.first_query * regression.columns + column];
      length += number * number;
      query_length += of_query * of_query;
    }
  }
  sums[item] = sum;
  lengths[item] = length;
  query_lengths[item] = query_length;
  for (int apart = static_cast<int>(blockDim.x) / 2; apart > 0; apart /= 2) {
    __syncthreads();
    if (x < apart) {
      sums[item] += sums[item + apart];
      lengths[item] += lengths[item + apart];
      query_lengths[item] += query_lengths[item + apart];
    }
  }
  if (x != 0 || !is_there) return;
  Squared distance = sums[item];
  if constexpr (std::is_floating_point_v<T>) {
    if (!isfinite(lengths[item]) || !isfinite(query_lengths[item])) distance = infinitely_far<Squared>();
  }
  regression.distances[row] = distance;
}

}  // namespace tessera::cuda

#define TESSERA_KERNEL_REGRESSION_DIFFERENCES(T, type)                                \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kRegressionThreads)     \
      tessera_kernel_regression_differences_##type(                                   \
          const __grid_constant__ tessera::cuda::RegressionArguments<T> regression) { \
    tessera::cuda::write_differences(regression);                                     \
  }

TESSERA_KERNEL_REGRESSION_DIFFERENCES(std::uint8_t, uint8)
TESSERA_KERNEL_REGRESSION_DIFFERENCES(float, float32)
TESSERA_KERNEL_REGRESSION_DIFFERENCES(double, float64)

#define TESSERA_KERNEL_REGRESSION_NORMS(T, type)                                      \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kRegressionThreads)     \
      tessera_kernel_regression_norms_##type(                                         \
          const __grid_constant__ tessera::cuda::RegressionArguments<T> regression) { \
    tessera::cuda::write_norms(regression);                                           \
  }

TESSERA_KERNEL_REGRESSION_NORMS(std::uint8_t, uint8)
TESSERA_KERNEL_REGRESSION_NORMS(float, float32)
TESSERA_KERNEL_REGRESSION_NORMS(double, float64)
