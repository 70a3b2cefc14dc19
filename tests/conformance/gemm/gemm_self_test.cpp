// The oracle and the reference of gemm tested themselves, without a device: that the oracle is right, that the bound is
// met by honest arithmetic, and that planted errors are found.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/gemm/gemm_reference.h"
#include "conformance/inputs.h"

namespace tessera::conformance {
namespace {

template <class T>
std::vector<T> random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                             Values values = Values::symmetric) {
  std::vector<T> matrix(static_cast<std::size_t>(rows * columns));
  fill_values(std::span<T>(matrix), values, seed);
  return matrix;
}

/// The strict algorithm, one product after the other.
template <class T>
std::vector<T> plain_gemm(const GemmInputs<T>& inputs) {
  const Gemm& problem = inputs.problem;
  std::vector<T> c(static_cast<std::size_t>(problem.m * problem.n));
  for (std::int64_t i = 0; i < problem.m; ++i) {
    for (std::int64_t j = 0; j < problem.n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < problem.k; ++p) {
        sum += static_cast<T>(inputs.a_at(i, p)) * static_cast<T>(inputs.b_at(p, j));
      }
      T result = static_cast<T>(inputs.alpha) * sum;
      if (inputs.beta != 0) result += static_cast<T>(inputs.beta) * static_cast<T>(inputs.c_at(i, j));
      c[static_cast<std::size_t>(i * problem.n + j)] = result;
    }
  }
  return c;
}

TEST(GemmOracleTest, is_exact_on_integers) {
  const Gemm problem{.m = 5, .n = 4, .k = 6, .type = DataType::float64, .transpose_b = true};
  std::vector<double> a(30), b(24), c(20);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(random_below(2001, 1, i)) - 1000;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(random_below(2001, 2, i)) - 1000;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<double>(random_below(2001, 3, i)) - 1000;
  const GemmInputs<double> inputs{problem, 3, -2, a, b, c};
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      std::int64_t sum = 0;
      for (std::size_t p = 0; p < 6; ++p)
        sum += static_cast<std::int64_t>(a[i * 6 + p]) * static_cast<std::int64_t>(b[j * 6 + p]);
      const auto expected = static_cast<double>(3 * sum - 2 * static_cast<std::int64_t>(c[i * 4 + j]));
      const Expected element = gemm_element(inputs, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
      EXPECT_EQ(element.value.high, expected);
      EXPECT_EQ(element.value.low, 0);
    }
  }
}

TEST(GemmOracleTest, bound_follows_the_roundings) {
  const double u = std::ldexp(1.0, -24);
  const auto relative = [](std::int64_t k, double alpha, double beta) {
    return gemm_bound({.k = k}, alpha, beta).relative;
  };
  EXPECT_NEAR(relative(10, 1, 0) / u, 10, 1e-4);
  EXPECT_NEAR(relative(10, 1, 1) / u, 11, 1e-4);
  EXPECT_NEAR(relative(10, -0.5, 0) / u, 11, 1e-4);
  EXPECT_NEAR(relative(10, -0.5, 0.5) / u, 12, 1e-4);
  EXPECT_NEAR(relative(0, 2, 0.5) / u, 1, 1e-4);
  EXPECT_EQ(relative(10, 0, 1), 0) << "C = 1 * C rounds nothing";
  EXPECT_EQ(relative(10, 0, 0), 0);
  EXPECT_TRUE(std::isinf(relative(std::int64_t{1} << 25, 1, 0))) << "float32 sums of 2^25 products have no bound";
}

template <class T>
void expect_honest_arithmetic_passes(Values values) {
  for (const std::int64_t k : {1, 2, 17, 257}) {
    const Gemm problem{.m = 9, .n = 11, .k = k, .type = data_type_of<T>};
    const auto a = random_matrix<T>(9, k, 1, values);
    const auto b = random_matrix<T>(k, 11, 2, values);
    const auto c = random_matrix<T>(9, 11, 3, values);
    const GemmInputs<T> inputs{problem, static_cast<T>(0.3), static_cast<T>(-0.7), a, b, c};
    Comparison comparison(problem.type);
    GemmReference<T>(inputs, 4).check(plain_gemm(inputs), 11, 1, std::nullopt, "", comparison);
    EXPECT_TRUE(comparison.outcome().passed) << comparison.outcome().failure;
    EXPECT_GT(comparison.outcome().worst_error, 0);
    EXPECT_LT(comparison.outcome().worst_error, comparison.outcome().bound);
  }
}

TEST(GemmReferenceTest, honest_arithmetic_meets_the_bound) {
  for (const Values values : {Values::symmetric, Values::positive, Values::wide}) {
    expect_honest_arithmetic_passes<float>(values);
    expect_honest_arithmetic_passes<double>(values);
  }
}

template <class T>
void expect_planted_errors_are_found() {
  const Gemm problem{.m = 9, .n = 11, .k = 17, .type = data_type_of<T>};
  const auto a = random_matrix<T>(9, 17, 1);
  const auto b = random_matrix<T>(17, 11, 2);
  const GemmInputs<T> inputs{problem, 1, 0, a, b, {}};
  const GemmReference<T> reference(inputs, 4);
  ASSERT_TRUE(reference.is_complete());
  const auto right = plain_gemm(inputs);
  for (std::size_t index = 0; index < right.size(); ++index) {
    auto wrong = right;
    const Expected expected =
        gemm_element(inputs, static_cast<std::int64_t>(index) / 11, static_cast<std::int64_t>(index) % 11);
    wrong[index] += static_cast<T>(2.1 * expected.bound);
    Comparison comparison(problem.type);
    reference.check(wrong, 11, 1, std::nullopt, "", comparison);
    EXPECT_FALSE(comparison.outcome().passed) << index;
    EXPECT_GT(comparison.outcome().worst_error, comparison.outcome().bound);
    const std::string name = "C(" + std::to_string(index / 11) + ", " + std::to_string(index % 11) + ")";
    EXPECT_NE(comparison.outcome().failure.find(name), std::string::npos) << comparison.outcome().failure;
  }
  // One product too few.
  const GemmInputs<T> shorter{{.m = 9, .n = 11, .k = 16, .type = data_type_of<T>}, 1, 0, {}, b, {}};
  std::vector<T> a_shorter;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i % 17 != 16) a_shorter.push_back(a[i]);
  }
  GemmInputs<T> last_missing = shorter;
  last_missing.a = a_shorter;
  Comparison comparison(problem.type);
  reference.check(plain_gemm(last_missing), 11, 1, std::nullopt, "", comparison);
  EXPECT_FALSE(comparison.outcome().passed);
}

TEST(GemmReferenceTest, planted_errors_are_found) {
  expect_planted_errors_are_found<float>();
  expect_planted_errors_are_found<double>();
}

TEST(GemmReferenceTest, an_unwritten_element_is_found) {
  const Gemm problem{.m = 3, .n = 3, .k = 2};
  const auto a = random_matrix<float>(3, 2, 1);
  const auto b = random_matrix<float>(2, 3, 2);
  const GemmInputs<float> inputs{problem, 1, 0, a, b, {}};
  auto c = plain_gemm(inputs);
  c[4] = -123.0F;
  Comparison comparison(problem.type);
  GemmReference<float>(inputs, 4).check(c, 3, 1e30, -123.0F, "", comparison);
  EXPECT_NE(comparison.outcome().failure.find("C(1, 1) holds the poison"), std::string::npos);
}

/// Large enough to be sampled and probed.
template <class T>
class SampledGemm {
 public:
  SampledGemm() : a_(random_matrix<T>(kRows, kProducts, 1)), b_(random_matrix<T>(kProducts, kColumns, 2)) {
    reference_.emplace(inputs(), 4);
    c_ = plain_gemm(inputs());
  }
  GemmInputs<T> inputs() const {
    return {{.m = kRows, .n = kColumns, .k = kProducts, .type = data_type_of<T>}, 1, 0, a_, b_, {}};
  }
  std::string failure_of(const std::vector<T>& c) const {
    Comparison comparison(data_type_of<T>);
    reference_->check(c, kColumns, 1, std::nullopt, "", comparison);
    return comparison.outcome().failure;
  }
  std::string probe_failure_of(const std::vector<T>& c) const {
    return GemmProbe<T>(inputs(), 5).check(c, kColumns, 1);
  }
  std::vector<T>& c() { return c_; }
  bool is_complete() const { return reference_->is_complete(); }

  static constexpr std::int64_t kRows = 301;
  static constexpr std::int64_t kColumns = 331;
  static constexpr std::int64_t kProducts = 180;

 private:
  std::vector<T> a_;
  std::vector<T> b_;
  std::vector<T> c_;
  std::optional<GemmReference<T>> reference_;
};

template <class T>
void expect_sampling_works() {
  SampledGemm<T> sampled;
  ASSERT_FALSE(sampled.is_complete());
  EXPECT_EQ(sampled.failure_of(sampled.c()), "");
  EXPECT_EQ(sampled.probe_failure_of(sampled.c()), "");
  // A tile of 32 x 32 swapped with its neighbour: no element is of the wrong size, and every grid cell is hit.
  auto swapped = sampled.c();
  for (std::int64_t i = 64; i < 96; ++i) {
    for (std::int64_t j = 64; j < 96; ++j) {
      std::swap(swapped[i * sampled.kColumns + j], swapped[i * sampled.kColumns + j + 32]);
    }
  }
  EXPECT_NE(sampled.failure_of(swapped).find("C("), std::string::npos);
  EXPECT_NE(sampled.probe_failure_of(swapped).find("the probe of C("), std::string::npos)
      << "the probe alone must find it too";
  // A single element that is far off, wherever it is.
  for (const std::int64_t index : {std::int64_t{0}, std::int64_t{50007}, sampled.kRows * sampled.kColumns - 1}) {
    auto wrong = sampled.c();
    wrong[index] += 100;
    EXPECT_NE(sampled.probe_failure_of(wrong), "") << index;
    wrong[index] = std::numeric_limits<T>::quiet_NaN();
    EXPECT_NE(sampled.probe_failure_of(wrong), "") << index;
  }
}

TEST(GemmReferenceTest, samples_and_probe_find_what_they_must) {
  expect_sampling_works<float>();
  expect_sampling_works<double>();
}

}  // namespace
}  // namespace tessera::conformance
