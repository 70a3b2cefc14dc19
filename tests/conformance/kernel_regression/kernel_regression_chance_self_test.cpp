// The probabilistic bounds of kernel_regression tested themselves, without a device: distances from norms and honest
// float32 products hold them, those of products of numbers with 11 bits do not, though the worst case forgives them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "conformance/inputs.h"
#include "conformance/kernel_regression/kernel_regression_reference.h"
#include "eleven_bits.h"

namespace tessera::conformance {
namespace {

/// What variants declare whose distances come from norms and a product.
constexpr double kFactorOfNorms = 2;

std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<float> made(static_cast<std::size_t>(count));
  fill_values(std::span<float>(made), Values::symmetric, seed);
  return made;
}

class RandomRegression {
 public:
  RandomRegression(std::int64_t columns, double scale)
      : problem_{.training_rows = 80, .columns = columns, .queries = 48, .order = 1, .scale = scale, .nearest = true},
        training_(random_values(80 * columns, 1)),
        queries_(random_values(48 * columns, 2)),
        targets_(random_values(80, 3)) {
    problem_.type = DataType::float32;
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t row = 0; row < problem_.training_rows; ++row) sum += training_[at(row, j)];
      centre_.push_back(static_cast<float>(sum / 80));
    }
  }

  /// Results from distances whose products are of numbers that `round` changes.
  template <class Round>
  std::string failure_of(Round round, Draw draw) const {
    std::vector<float> values;
    std::vector<std::int64_t> nearest;
    std::vector<float> squared;
    for (std::int64_t query = 0; query < problem_.queries; ++query) {
      std::vector<float> distances;
      for (std::int64_t row = 0; row < problem_.training_rows; ++row) {
        distances.push_back(length(queries_, query) + length(training_, row) - 2 * product(query, row, round));
      }
      const auto least = std::min_element(distances.begin(), distances.end());
      nearest.push_back(least - distances.begin());
      squared.push_back(*least);
      float sum = 0;
      float value = 0;
      for (std::size_t row = 0; row < distances.size(); ++row) {
        const auto scale = static_cast<float>(problem_.scale);
        const float weight = std::exp(-scale * scale / 2 * (distances[row] - *least));
        sum += weight;
        value += weight * targets_[row];
      }
      values.push_back(value / sum);
    }
    Comparison comparison(DataType::float32);
    const RegressionInputs<float> inputs{problem_, queries_, training_, targets_};
    RegressionReference<float>(inputs, 4, draw).check({values, {}, nearest, squared, {}}, kFactorOfNorms, comparison);
    return comparison.outcome().failure;
  }

 private:
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * problem_.columns + column);
  }
  float centred(const std::vector<float>& rows, std::int64_t row, std::int64_t column) const {
    return rows[at(row, column)] - centre_[static_cast<std::size_t>(column)];
  }
  float length(const std::vector<float>& rows, std::int64_t row) const {
    float sum = 0;
    for (std::int64_t j = 0; j < problem_.columns; ++j) sum += centred(rows, row, j) * centred(rows, row, j);
    return sum;
  }
  template <class Round>
  float product(std::int64_t query, std::int64_t row, Round round) const {
    float sum = 0;
    for (std::int64_t j = 0; j < problem_.columns; ++j) {
      sum += round(centred(queries_, query, j)) * round(centred(training_, row, j));
    }
    return sum;
  }

  KernelRegression problem_;
  std::vector<float> training_;
  std::vector<float> queries_;
  std::vector<float> targets_;
  std::vector<float> centre_;
};

TEST(RegressionChanceTest, honest_products_hold_it) {
  for (const std::int64_t columns : {1, 3, 50, 784}) {
    for (const double scale : {0.01, 0.3, 10.0}) {
      const RandomRegression regression(columns, scale);
      EXPECT_EQ(regression.failure_of(as_it_is, Draw::symmetric), "") << columns << ", " << scale;
    }
  }
}

TEST(RegressionChanceTest, products_of_11_bits_are_found_where_the_worst_case_forgives_them) {
  const RandomRegression regression(784, 0.3);
  EXPECT_EQ(regression.failure_of(rounded_to_11_bits, Draw::chosen), "");
  const std::string failure = regression.failure_of(rounded_to_11_bits, Draw::symmetric);
  EXPECT_NE(failure.find("values: the errors of 48 elements have a root mean square"), std::string::npos) << failure;
}

}  // namespace
}  // namespace tessera::conformance
