// The oracle and the reference of kernel_regression tested themselves, without a device: that the oracle is right, that
// honest arithmetic meets the bound, and that planted errors are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "conformance/guarded_buffer.h"
#include "conformance/inputs.h"
#include "conformance/kernel_regression/kernel_regression_reference.h"

namespace tessera::conformance {
namespace {

/// Results that own their memory.
template <class T>
struct Results {
  [[nodiscard]] RegressionResults<T> spans() const { return {values, votes, rows, squared, neighbours}; }

  std::vector<RegressionResult<T>> values;
  std::vector<RegressionResult<T>> votes;
  std::vector<std::int64_t> rows;
  std::vector<RegressionSquared<T>> squared;
  std::vector<RegressionResult<T>> neighbours;
};

/// A problem with its operands, and what plain loops in the results' type make of it.
template <class T>
class Regression {
 public:
  using Result = RegressionResult<T>;

  explicit Regression(KernelRegression asked) : problem(asked) {
    problem.type = data_type_of<T>;
    fill(training, problem.training_rows * problem.columns, 1);
    fill(queries, problem.queries * problem.columns, 2);
    for (std::int64_t t = 0; t < problem.training_rows; ++t) targets.push_back(static_cast<Result>(t % 4));
  }
  [[nodiscard]] RegressionInputs<T> inputs() const { return {problem, queries, training, targets}; }

  [[nodiscard]] Results<T> results() const {
    Results<T> all;
    for (std::int64_t query = 0; query < problem.queries; ++query) add(query, all);
    return all;
  }

  KernelRegression problem;
  std::vector<T> training;
  std::vector<T> queries;
  std::vector<Result> targets;

 private:
  static void fill(std::vector<T>& rows, std::int64_t count, std::uint64_t seed) {
    rows.resize(static_cast<std::size_t>(count));
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      fill_integers(std::span<T>(rows), seed);
    } else {
      fill_values(std::span<T>(rows), Values::symmetric, seed);
    }
  }
  [[nodiscard]] RegressionSquared<T> squared(std::int64_t query, std::int64_t row) const {
    using Squared = RegressionSquared<T>;
    Squared sum = 0;
    for (std::int64_t j = 0; j < problem.columns; ++j) {
      const auto difference =
          static_cast<Squared>(static_cast<Squared>(queries[static_cast<std::size_t>(query * problem.columns + j)]) -
                               static_cast<Squared>(training[static_cast<std::size_t>(row * problem.columns + j)]));
      sum += difference * difference;
    }
    return sum;
  }
  void add(std::int64_t query, Results<T>& all) const {
    std::vector<RegressionSquared<T>> distances;
    for (std::int64_t row = 0; row < problem.training_rows; ++row) distances.push_back(squared(query, row));
    const auto least = std::min_element(distances.begin(), distances.end());
    const auto factor = static_cast<Result>(problem.order * problem.order * problem.scale * problem.scale / 2);
    Result sum = 0;
    Result squares = 0;
    Result value = 0;
    std::vector<Result> votes(static_cast<std::size_t>(problem.classes));
    for (std::size_t row = 0; row < distances.size(); ++row) {
      const Result weight = std::exp(-factor * static_cast<Result>(distances[row] - *least));
      sum += weight;
      squares += weight * weight;
      value += weight * targets[row];
      votes[static_cast<std::size_t>(targets[row])] += weight;
    }
    all.values.push_back(value / sum);
    all.votes.insert(all.votes.end(), votes.begin(), votes.end());
    all.rows.push_back(least - distances.begin());
    all.squared.push_back(*least);
    all.neighbours.push_back(sum * sum / squares);
  }
};

KernelRegression regression_of(std::int64_t rows, std::int64_t columns, std::int64_t queries, double scale = 1) {
  return {.training_rows = rows,
          .columns = columns,
          .queries = queries,
          .order = 1,
          .scale = scale,
          .classes = 4,
          .nearest = true,
          .neighbours = true};
}

template <class T>
Outcome outcome_of(const Regression<T>& regression, const Results<T>& results, double error_factor = 1) {
  const RegressionInputs<T> inputs = regression.inputs();
  const RegressionReference<T> reference(inputs, 4);
  Comparison comparison(regression.problem.result_type());
  reference.check(results.spans(), error_factor, comparison);
  return comparison.outcome();
}

TEST(RegressionOracleTest, knows_a_problem_by_hand) {
  KernelRegression problem = regression_of(2, 1, 1);
  problem.type = DataType::float64;
  problem.order = std::sqrt(2.0);  // a = D
  const std::vector<double> query{1};
  const std::vector<double> training{0, 3};
  const std::vector<double> targets{0, 1};
  const RegressionInputs<double> inputs{problem, query, training, targets};
  const RegressionOracle<double> oracle(inputs);
  const RegressionExpected expected = oracle.expected(oracle.distances(0), 1);
  const double weight = std::exp(-3.0);
  EXPECT_NEAR(expected.values[0].value.high, weight / (1 + weight), 1e-15);
  EXPECT_NEAR(expected.votes[1].value.high, weight, 1e-16);
  EXPECT_NEAR(expected.neighbours.value.high, (1 + weight) * (1 + weight) / (1 + weight * weight), 1e-15);
  EXPECT_EQ(expected.nearest_squared.value.high, 1);
  EXPECT_EQ(expected.nearest_row, 0);
  EXPECT_FALSE(oracle.may_be_nearest(oracle.distances(0), 1, 2));
}

template <class T>
void expect_honest_arithmetic_passes(double scale) {
  for (const std::int64_t rows : {1, 3, 200}) {
    const Regression<T> regression(regression_of(rows, 31, 6, scale));
    const Outcome outcome = outcome_of(regression, regression.results());
    EXPECT_TRUE(outcome.passed) << rows << ": " << outcome.failure;
  }
}

TEST(RegressionReferenceTest, honest_arithmetic_meets_the_bound) {
  expect_honest_arithmetic_passes<float>(1);
  expect_honest_arithmetic_passes<double>(1);
  expect_honest_arithmetic_passes<std::uint8_t>(1.0 / 128);
}

/// Changes one number of one result, and expects that it is found and named.
template <class T, class Vector>
void expect_found(const Regression<T>& regression, Vector Results<T>::*result, double change, const std::string& name) {
  const Results<T> right = regression.results();
  for (std::size_t i = 0; i < (right.*result).size(); ++i) {
    Results<T> wrong = right;
    auto& number = (wrong.*result)[i];
    number = static_cast<std::remove_reference_t<decltype(number)>>(static_cast<double>(number) + change);
    const Outcome outcome = outcome_of(regression, wrong, 2);
    EXPECT_FALSE(outcome.passed) << name << " " << i;
    EXPECT_NE(outcome.failure.find(name), std::string::npos) << outcome.failure;
  }
}

TEST(RegressionReferenceTest, planted_errors_are_found) {
  const Regression<float> floats(regression_of(70, 31, 5));
  // A few thousandths of the largest target: what a wrong weight, a row left out or one that is met twice makes.
  expect_found(floats, &Results<float>::values, 1e-3, "values of query");
  expect_found(floats, &Results<float>::votes, 1e-3, "votes of query");
  expect_found(floats, &Results<float>::neighbours, 5e-2, "neighbours of query");
  expect_found(floats, &Results<float>::squared, 1e-2, "nearest_squared of query");
  expect_found(floats, &Results<float>::rows, 1, "nearest_row of query");
  const Regression<double> doubles(regression_of(70, 31, 5));
  expect_found(doubles, &Results<double>::values, 1e-11, "values of query");
  const Regression<std::uint8_t> bytes(regression_of(70, 31, 5, 1.0 / 128));
  expect_found(bytes, &Results<std::uint8_t>::values, 1e-3, "values of query");
  expect_found(bytes, &Results<std::uint8_t>::squared, 1, "nearest_squared of query");
}

TEST(RegressionReferenceTest, a_row_that_is_left_out_is_found) {
  const Regression<float> whole(regression_of(64, 31, 4));
  KernelRegression fewer = whole.problem;
  fewer.training_rows = 63;
  Regression<float> part(fewer);
  part.training.assign(whole.training.begin(), whole.training.end() - 31);
  part.queries = whole.queries;
  EXPECT_FALSE(outcome_of(whole, part.results(), 2).passed);
}

TEST(RegressionReferenceTest, a_result_that_no_sample_looks_at_must_be_written) {
  const Regression<float> regression(regression_of(20000, 64, 100));
  Results<float> results = regression.results();
  results.values[57] = poison<float>();
  const Outcome outcome = outcome_of(regression, results, 2);
  EXPECT_NE(outcome.failure.find("number 57 of values is not written"), std::string::npos) << outcome.failure;
}

}  // namespace
}  // namespace tessera::conformance
