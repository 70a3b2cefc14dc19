// kernel_regression: a query's results from its distances, by one block, whose threads are a power of two.
//
//   distances of one query     thread 0 1 2 3 0 1 2 3 ...   Each thread walks over every so manyth row: for the least
//   +-+-+-+-+-+-+-+-+---              v v v v               distance, for the weights, and once for each sum. What the
//   | | | | | | | | |                 halves, quarters, ... threads have is joined pair by pair in a fixed order, so
//   +-+-+-+-+-+-+-+-+---              one number            that the bits are the same on every run.
#pragma once

#include "ops/kernel_regression/kernel_regression_rows.cuh"

namespace tessera::cuda {

/// What the threads of a block tell each other.
template <class Squared>
struct RegressionShared {
  Squared least[kRegressionThreads];
  std::int64_t row[kRegressionThreads];
  double sum[kRegressionThreads];
};

/// The nearest row, the lowest of several, or -1; every thread gets it.
template <class Squared>
__device__ __forceinline__ std::int64_t nearest_of(const Squared* distances, std::int64_t rows,
                                                   RegressionShared<Squared>& shared) {
  const int item = static_cast<int>(threadIdx.x);
  const int count = static_cast<int>(blockDim.x);
  Squared least = infinitely_far<Squared>();
  std::int64_t nearest = -1;
  for (std::int64_t row = item; row < rows; row += count) {
    if (distances[row] < least) {
      least = distances[row];
      nearest = row;
    }
  }
  shared.least[item] = least;
  shared.row[item] = nearest;
  for (int apart = count / 2; apart > 0; apart /= 2) {
    __syncthreads();
    if (item < apart) {
      const int other = item + apart;
      const Squared there = shared.least[other];
      const Squared here = shared.least[item];
      const bool is_lower = there == here && shared.row[other] >= 0 && shared.row[other] < shared.row[item];
      if (there < here || is_lower) {
        shared.least[item] = there;
        shared.row[item] = shared.row[other];
      }
    }
  }
  __syncthreads();
  return shared.row[0];
}

/// The sum of what all threads have; every thread gets it.
template <class Squared>
__device__ __forceinline__ double sum_of(double mine, RegressionShared<Squared>& shared) {
  const int item = static_cast<int>(threadIdx.x);
  __syncthreads();  // slower threads still read the sum before
  shared.sum[item] = mine;
  for (int apart = static_cast<int>(blockDim.x) / 2; apart > 0; apart /= 2) {
    __syncthreads();
    if (item < apart) shared.sum[item] += shared.sum[item + apart];
  }
  __syncthreads();
  return shared.sum[0];
}

/// Writes the results of the block's query, blockIdx.x of the launch; all threads call it.
template <class T>
__device__ __forceinline__ void write_results(const RegressionArguments<T>& regression) {
  using Result = typename RegressionArguments<T>::Result;
  using Squared = typename RegressionArguments<T>::Squared;
  __shared__ RegressionShared<Squared> shared;
  const int item = static_cast<int>(threadIdx.x);
  const int count = static_cast<int>(blockDim.x);
  const std::int64_t query = regression.first_query + blockIdx.x;
  const std::int64_t rows = regression.training_rows;
  const std::int64_t outputs = regression.outputs;
  const Squared* const distances = regression.distances + blockIdx.x * rows;
  Result* const weights = regression.weights + blockIdx.x * rows;
  Result* const values = regression.values + query * outputs;
  Result* const votes = regression.votes + query * regression.classes;
  const Result none = static_cast<Result>(NAN);

  const std::int64_t nearest = nearest_of(distances, rows, shared);
  if (item == 0 && regression.nearest_row != nullptr) {
    regression.nearest_row[query] = nearest;
    regression.nearest_squared[query] = nearest < 0 ? no_distance<Squared>() : distances[nearest];
  }
  if (nearest < 0) {
    for (std::int64_t r = item; r < outputs; r += count) values[r] = none;
    for (std::int64_t c = item; c < regression.classes; c += count) votes[c] = none;
    if (item == 0 && regression.neighbours != nullptr) regression.neighbours[query] = none;
    return;
  }
  const Squared least = distances[nearest];
  for (std::int64_t row = item; row < rows; row += count) {
    weights[row] = regression_weight<Result>(regression.factor, regression.is_euclidean, distances[row], least);
  }
  // One sum after the other: of weights, of their squares, for each output, for each class. A target counts where its
  // row's weight is not 0: an infinite one stays out where it has no part.
  double of_weights = 1;
  for (std::int64_t number = 0; number < 2 + outputs + regression.classes; ++number) {
    double mine = 0;
    for (std::int64_t row = item; row < rows; row += count) {
      const double weight = static_cast<double>(weights[row]);
      double factor = 1;
      if (number == 1) factor = weight;
      if (number >= 2 && weight != 0) {
        factor =
            number < 2 + outputs
                ? static_cast<double>(regression.targets[row * outputs + number - 2])
                : static_cast<double>(regression.targets[row * outputs] == static_cast<Result>(number - 2 - outputs));
      }
      mine += weight * factor;
    }
    const double sum = sum_of(mine, shared);
    if (number == 0) of_weights = sum;
    if (item != 0) continue;
    if (number == 1 && regression.neighbours != nullptr) {
      regression.neighbours[query] = static_cast<Result>(of_weights * of_weights / sum);
    }
    if (number >= 2 && number < 2 + outputs) values[number - 2] = static_cast<Result>(sum / of_weights);
    if (number >= 2 + outputs) votes[number - 2 - outputs] = static_cast<Result>(sum);
  }
}

}  // namespace tessera::cuda
