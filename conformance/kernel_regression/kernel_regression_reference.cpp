// What the results of a kernel_regression must be, and comparing them with it.
#include "conformance/kernel_regression/kernel_regression_reference.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "conformance/guarded_buffer.h"
#include "conformance/in_threads.h"
#include "conformance/inputs.h"

namespace tessera::conformance {

namespace {

/// Differences that the queries looked at may take together: half a second on one core.
constexpr double kDifferences = 1 << 26;
/// Of a large case at least so many queries are looked at.
constexpr std::int64_t kFewestSamples = 8;
/// Queries from which on the mean square of their errors says something: that of 32 passes six times its expectation
/// with a probability below 2^-70.
constexpr double kFewestTogether = 32;

std::string name_of(const char* result, std::int64_t query) {
  return std::string(result) + " of query " + std::to_string(query);
}

}  // namespace

template <class T>
RegressionReference<T>::RegressionReference(const RegressionInputs<T>& inputs, std::uint64_t seed, Draw draw)
    : problem_(inputs.problem), oracle_(inputs, draw) {
  const double each = static_cast<double>(problem_.training_rows) * static_cast<double>(problem_.columns + 8);
  const std::int64_t affordable = std::max(kFewestSamples, static_cast<std::int64_t>(kDifferences / each));
  std::vector<std::int64_t> queries;
  for (std::int64_t i = 0; i < std::min(problem_.queries, affordable); ++i) {
    const bool is_random = affordable < problem_.queries && i >= 2;
    const auto drawn = static_cast<std::int64_t>(
        random_below(static_cast<std::uint64_t>(problem_.queries), seed, static_cast<std::uint64_t>(i)));
    queries.push_back(is_random ? drawn : affordable < problem_.queries && i == 1 ? problem_.queries - 1 : i);
  }
  for (const std::int64_t query : queries) samples_.push_back({query, {}});
  in_threads(samples_.size(), each * static_cast<double>(samples_.size()),
             [&](std::size_t i) { samples_[i].distances = oracle_.distances(samples_[i].query); });
}

template <class T>
void RegressionReference<T>::check_sample(const RegressionResults<T>& results, const Sample& sample,
                                          const RegressionExpected& expected, double error_factor,
                                          Comparison& comparison) const {
  const std::int64_t query = sample.query;
  const auto accept = [&](const std::string& name, double found, const Expected& element) {
    if (!comparison.accepts(found, element)) comparison.fail(name + " " + describe_difference(found, element));
  };
  const auto each = [&](const char* result, const auto& found, const std::vector<Expected>& elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      accept(name_of(result, query) + ", number " + std::to_string(i) + ",",
             static_cast<double>(found[static_cast<std::size_t>(query) * elements.size() + i]), elements[i]);
    }
  };
  each("values", results.values, expected.values);
  each("votes", results.votes, expected.votes);
  const auto place = static_cast<std::size_t>(query);
  if (problem_.neighbours)
    accept(name_of("neighbours", query), static_cast<double>(results.neighbours[place]), expected.neighbours);
  if (!problem_.nearest) return;
  const std::int64_t row = results.nearest_row[place];
  if (!oracle_.may_be_nearest(sample.distances, row, error_factor)) {
    comparison.fail(name_of("nearest_row", query) + " is " + std::to_string(row) + ", but must be " +
                    std::to_string(expected.nearest_row));
  }
  if (expected.nearest_row < 0 && std::is_same_v<T, std::uint8_t>) return;
  accept(name_of("nearest_squared", query), static_cast<double>(results.nearest_squared[place]),
         expected.nearest_squared);
}

/// The errors of nearest_squared, and of the first value of each query: the others have the same weights.
template <class T>
void RegressionReference<T>::check_all_together(const RegressionResults<T>& results,
                                                const std::vector<RegressionExpected>& expected,
                                                Comparison& comparison) const {
  RootMeanSquare values;
  RootMeanSquare squared;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const RegressionExpected& of = expected[i];
    const auto query = static_cast<std::size_t>(samples_[i].query);
    if (of.value_spread > 0) {
      const auto found = static_cast<double>(results.values[query * of.values.size()]);
      values.add(distance(found, of.values[0].value), of.value_spread);
    }
    if (problem_.nearest && of.squared_spread > 0) {
      const auto found = static_cast<double>(results.nearest_squared[query]);
      squared.add(distance(found, of.nearest_squared.value), of.squared_spread);
    }
  }
  for (const auto& [name, errors] : {std::pair{"values: ", &values}, std::pair{"nearest_squared: ", &squared}}) {
    const std::string unlikely = errors->failure(errors->count(), kFewestTogether);
    if (!unlikely.empty() && !comparison.failed()) comparison.fail(name + unlikely);
  }
}

/// A result that no sample looks at must have been written at least.
template <class T>
void RegressionReference<T>::check_unwritten(const RegressionResults<T>& results, Comparison& comparison) const {
  const auto look = [&](const char* name, const auto& found) {
    using Element = std::remove_cvref_t<decltype(found[0])>;
    const Element unwritten = poison<Element>();
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::memcmp(&found[i], &unwritten, sizeof unwritten) != 0) continue;
      comparison.fail("number " + std::to_string(i) + " of " + name + " is not written");
      return;
    }
  };
  look("values", results.values);
  look("votes", results.votes);
  look("nearest_row", results.nearest_row);
  look("nearest_squared", results.nearest_squared);
  look("neighbours", results.neighbours);
}

template <class T>
void RegressionReference<T>::check(const RegressionResults<T>& results, double error_factor,
                                   Comparison& comparison) const {
  const std::vector<RegressionExpected>* expected = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::vector<RegressionExpected>& kept = expected_[error_factor];
    if (kept.empty()) {
      kept.resize(samples_.size());
      const double rows = static_cast<double>(problem_.training_rows) * static_cast<double>(samples_.size());
      in_threads(samples_.size(), rows,
                 [&](std::size_t i) { kept[i] = oracle_.expected(samples_[i].distances, error_factor); });
    }
    expected = &kept;
  }
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    check_sample(results, samples_[i], (*expected)[i], error_factor, comparison);
  }
  check_all_together(results, *expected, comparison);
  check_unwritten(results, comparison);
}

template class RegressionReference<float>;
template class RegressionReference<double>;
template class RegressionReference<std::uint8_t>;

}  // namespace tessera::conformance
