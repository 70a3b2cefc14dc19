// A kernel regression in the host's memory, in one piece or streamed, and the bits of all its results.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::testing_support {

template <class T>
struct HostRegression {
  using Result = std::conditional_t<std::is_same_v<T, double>, double, float>;
  using Squared = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int64_t, T>;

  /// Rows around ten places, some of them twice, far apart; of floats the second row and a late one have no part.
  explicit HostRegression(const KernelRegression& of) : problem(of) {
    problem.type = data_type_of<T>;
    problem.classes = 10;
    problem.nearest = problem.neighbours = true;
    training = numbers(problem.training_rows * problem.columns, 7);
    queries = numbers(problem.queries * problem.columns, 11);
    for (std::int64_t t = 0; t < problem.training_rows * problem.outputs; ++t)
      targets.push_back(static_cast<Result>(t % 10));
    const auto row = [&](std::int64_t index) { return training.begin() + index * problem.columns; };
    for (std::int64_t index = 0; 3 * index < problem.training_rows; index += 100)
      std::copy_n(row(index), problem.columns, row(problem.training_rows - 1 - index));
    if constexpr (std::is_floating_point_v<T>) {
      if (problem.training_rows > 1) *row(1) = std::numeric_limits<T>::quiet_NaN();
      *row(problem.training_rows - 1) = std::numeric_limits<T>::infinity();
    }
    const auto each = static_cast<std::size_t>(problem.queries);
    values.resize(each * static_cast<std::size_t>(problem.outputs));
    votes.resize(each * static_cast<std::size_t>(problem.classes));
    nearest_row.resize(each);
    nearest_squared.resize(each);
    neighbours.resize(each);
  }

  [[nodiscard]] KernelRegression::HostOperands operands() {
    return {.queries = queries,
            .training = training,
            .targets = targets,
            .values = values,
            .votes = votes,
            .nearest_row = nearest_row,
            .nearest_squared = nearest_squared,
            .neighbours = neighbours};
  }

  /// Of one run of a kernel, without a stream.
  [[nodiscard]] std::string bits_in_one_piece(const Device& device, const KernelOptions& options = {}) {
    Queue queue(device);
    const auto kernel = device.kernel(problem, options);
    const auto on_device = [&]<class E>(const std::vector<E>& host) { return device.upload<E>(host); };
    const auto v = on_device(values), w = on_device(votes), n = on_device(neighbours);
    const auto row = on_device(nearest_row);
    const auto squared = on_device(nearest_squared);
    queue.run(kernel, {.queries = on_device(queries),
                       .training = on_device(training),
                       .targets = on_device(targets),
                       .values = v,
                       .votes = w,
                       .nearest_row = row,
                       .nearest_squared = squared,
                       .neighbours = n});
    values = queue.download(v).get();
    votes = queue.download(w).get();
    neighbours = queue.download(n).get();
    nearest_row = queue.download(row).get();
    nearest_squared = queue.download(squared).get();
    return bits();
  }
  /// Of a stream into results that hold something else.
  [[nodiscard]] std::string streamed_bits(const Device& device, const StreamOptions& options, StreamReport& report) {
    std::fill(values.begin(), values.end(), Result(-77));
    std::fill(votes.begin(), votes.end(), Result(-77));
    std::fill(neighbours.begin(), neighbours.end(), Result(-77));
    std::fill(nearest_row.begin(), nearest_row.end(), -77);
    std::fill(nearest_squared.begin(), nearest_squared.end(), Squared(-77));
    report = stream(device, problem, operands(), options);
    return bits();
  }

  KernelRegression problem;
  std::vector<T> queries, training;
  std::vector<Result> targets, values, votes, neighbours;
  std::vector<std::int64_t> nearest_row;
  std::vector<Squared> nearest_squared;

 private:
  [[nodiscard]] static std::vector<T> numbers(std::int64_t count, std::uint64_t seed) {
    std::vector<T> all;
    std::uint64_t state = seed;
    for (std::int64_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const auto byte = static_cast<double>(state >> 56);
      all.push_back(static_cast<T>(std::is_same_v<T, std::uint8_t> ? byte : byte / 128 - 1));
    }
    return all;
  }
  [[nodiscard]] std::string bits() const {
    std::string all;
    const auto add = [&](const auto& numbers) {
      all.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0]));
    };
    add(values), add(votes), add(neighbours), add(nearest_row), add(nearest_squared);
    return all;
  }
};

}  // namespace tessera::testing_support
