// kernel_regression, vendor_cublas: the state of a block of training rows from a query's products with them, which
// cuBLAS has written, by a group.
//
//   products of one query         thread 0 | thread 1 | ...    Each thread makes distances of neighbouring products,
//   +---------+---------+---      d d d d  | d d d d  |        which are read once, and keeps them in registers. The
//   | p p p p | p p p p |                 v                    group finds the nearest row; then those that weigh
//   +---------+---------+---      list of rows and weights     something are listed in their order, and each thread
//                                 sum w | sum w^2 | sum f w    adds up, from the first to the last, another number of
//                                                              the state.
#include "cuda_kernel_overlap.cuh"
#include "ops/kernel_regression/kernel_regression_state.cuh"

namespace tessera::cuda {

inline constexpr int kProductsOfThread = kMostBlockRows / kRegressionProductThreads;
inline constexpr int kProductWarps = kRegressionProductThreads / 32;

/// What the threads of a group tell each other.
struct RegressionProductShared {
  double weights[kMostBlockRows];
  short rows[kMostBlockRows];
  double least[kProductWarps];
  int nearest[kProductWarps];
  int counts[kProductWarps];
};

/// A squared distance from a product; infinite where a row has no part.
template <class T>
__device__ __forceinline__ double distance_of_product(typename RegressionPacked<T>::Length query_length,
                                                      typename RegressionPacked<T>::Length row_length,
                                                      typename RegressionPacked<T>::Length product) {
  if constexpr (std::is_integral_v<T>) {
    return row_length == INT32_MAX ? static_cast<double>(INFINITY)
                                   : static_cast<double>(query_length + row_length - 2 * product);
  } else {
    const T squared = fma(T(-2), product, query_length + row_length);
    return isnan(squared) ? static_cast<double>(INFINITY) : static_cast<double>(squared < 0 ? T(0) : squared);
  }
}

/// The least of all threads' distances, and of equal ones the lowest row; every thread gets them.
__device__ __forceinline__ void find_nearest(RegressionProductShared& shared, double& least, int& nearest) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    const double other = __shfl_xor_sync(0xffffffffU, least, apart);
    const int other_row = __shfl_xor_sync(0xffffffffU, nearest, apart);
    if (other < least || (other == least && other_row < nearest)) {
      least = other;
      nearest = other_row;
    }
  }
  if (threadIdx.x % 32 == 0) {
    shared.least[warp] = least;
    shared.nearest[warp] = nearest;
  }
  __syncthreads();
  for (int i = 0; i < kProductWarps; ++i) {  // rows of a warp follow those of the warp before
    if (i == 0 || shared.least[i] < least) {
      least = shared.least[i];
      nearest = shared.nearest[i];
    }
  }
}

/// How many of the threads before this one's are, if each has `mine`; `all`: of every thread.
__device__ __forceinline__ int count_before(RegressionProductShared& shared, int mine, int& all) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  int until = mine;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const int other = __shfl_up_sync(0xffffffffU, until, apart);
    if (lane >= apart) until += other;
  }
  if (lane == 31) shared.counts[warp] = until;
  __syncthreads();
  int before = until - mine;
  all = 0;
  for (int i = 0; i < kProductWarps; ++i) {
    if (i < warp) before += shared.counts[i];
    all += shared.counts[i];
  }
  return before;
}

/// A number of the state from the list.
template <class T>
__device__ __forceinline__ double number_of_list(const RegressionTileArguments<T>& regression,
                                                 const RegressionProductShared& shared, int count,
                                                 std::int64_t first_row, std::int64_t place) {
  using Result = typename RegressionTileArguments<T>::Result;
  const std::int64_t number = place - kRegressionSums;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double weight = shared.weights[i];
    if (weight == 0) continue;  // its targets may be infinite
    double factor = 1;
    if (place == kRegressionSquares) factor = weight;
    if (number >= 0) {
      const Result* const targets = regression.targets + (first_row + shared.rows[i]) * regression.outputs;
      factor = number < regression.outputs
                   ? static_cast<double>(targets[number])
                   : static_cast<double>(targets[0] == static_cast<Result>(number - regression.outputs));
    }
    sum += weight * factor;
  }
  return sum;
}

/// Groups: all queries of a block of rows follow each other.
template <class T>
__device__ __forceinline__ void meet_products(const RegressionProductArguments<T>& products) {
  using Length = typename RegressionPacked<T>::Length;
  using Result = typename RegressionTileArguments<T>::Result;
  __shared__ RegressionProductShared shared;
  let_next_kernel_start();
  wait_for_kernel_before();
  const RegressionTileArguments<T>& regression = products.regression;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t block = blockIdx.x / regression.queries_of_round;  // of those whose products are there
  const std::int64_t query = blockIdx.x - block * regression.queries_of_round;
  const std::int64_t first_row = (products.first_block + block) * regression.block_rows;
  const Length* const of_query = products.products + query * products.leading + block * regression.block_rows;
  const Length query_length = regression.query_lengths[query];
  const Length* const row_lengths = regression.row_lengths + first_row;
  const std::int64_t rows_left = regression.training_rows - first_row;
  const auto rows = static_cast<int>(rows_left < regression.block_rows ? rows_left : regression.block_rows);

  double distances[kProductsOfThread];
  double least = INFINITY;
  int nearest = -1;
#pragma unroll
  for (int i = 0; i < kProductsOfThread; ++i) {
    const int row = thread * kProductsOfThread + i;
    distances[i] = row < rows ? distance_of_product<T>(query_length, row_lengths[row], of_query[row])
                              : static_cast<double>(INFINITY);
    if (distances[i] < least) {
      least = distances[i];
      nearest = row;
    }
  }
  find_nearest(shared, least, nearest);
  const bool has_met = !isinf(least);
  const double furthest = has_met ? furthest_from(least, regression.reach, regression.is_euclidean) : -1;
  int near = 0;
#pragma unroll
  for (int i = 0; i < kProductsOfThread; ++i) near += !isinf(distances[i]) && distances[i] <= furthest ? 1 : 0;
  int all = 0;
  int place = count_before(shared, near, all);
#pragma unroll
  for (int i = 0; i < kProductsOfThread; ++i) {
    if (isinf(distances[i]) || !(distances[i] <= furthest)) continue;
    using Squared = std::conditional_t<std::is_integral_v<T>, double, T>;
    shared.weights[place] = static_cast<double>(regression_weight<Result>(
        regression.factor, regression.is_euclidean, static_cast<Squared>(distances[i]), static_cast<Squared>(least)));
    shared.rows[place++] = static_cast<short>(thread * kProductsOfThread + i);
  }
  __syncthreads();
  const RegressionState<T> state(regression, products.first_block + block, query);
  for (std::int64_t number = kRegressionSum + thread; number < RegressionState<T>::size(regression);
       number += kRegressionProductThreads) {
    state.set(regression, number, number_of_list(regression, shared, all, first_row, number));
  }
  if (thread != 0) return;
  state.set(regression, kRegressionLeast, least);
  state.set_row(regression, has_met ? first_row + nearest : -1);
}

}  // namespace tessera::cuda

#define TESSERA_REGRESSION_PRODUCTS(T, type)                                               \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kRegressionProductThreads)   \
      tessera_kernel_regression_products_##type(                                           \
          const __grid_constant__ tessera::cuda::RegressionProductArguments<T> products) { \
    tessera::cuda::meet_products(products);                                                \
  }

TESSERA_REGRESSION_PRODUCTS(std::uint8_t, uint8)
TESSERA_REGRESSION_PRODUCTS(float, float32)
TESSERA_REGRESSION_PRODUCTS(double, float64)
