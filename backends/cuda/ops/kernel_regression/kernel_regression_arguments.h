// What the plain kernels of kernel_regression take, by value; read by host and device.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// Threads of a block that adds up a query's results, at most.
constexpr int kRegressionThreads = 256;

/// A regression over rows of T, and the part of it that a launch computes; see tessera/ops/kernel_regression.h.
template <class T>
struct RegressionArguments {
  using Result = std::conditional_t<std::is_same_v<T, double>, double, float>;
  using Squared = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int64_t, T>;
  using Difference = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int16_t, T>;

  const T* queries;
  const T* training;
  const Result* targets;
  Result* values;
  Result* votes;              ///< null where there are no classes
  std::int64_t* nearest_row;  ///< null: not wanted
  Squared* nearest_squared;   ///< null: not wanted
  Result* neighbours;         ///< null: not wanted
  Squared* distances;         ///< of the launch's queries, training_rows each
  Result* weights;            ///< likewise
  Difference* differences;    ///< of a chunk's rows from one query
  std::int64_t training_rows;
  std::int64_t columns;
  std::int64_t outputs;
  std::int64_t classes;
  std::int64_t first_query;  ///< of the launch
  std::int64_t first_row;    ///< of the chunk
  std::int64_t last_row;     ///< behind the chunk
  double factor;             ///< of the exponent: order^2 scale / 2, times scale where the distance is squared
  bool is_euclidean;
};

}  // namespace tessera::cuda
