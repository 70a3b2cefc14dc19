// The list of kernel_regression's cases. Rows and queries straddle tiles of 16 to 128 and blocks of training rows,
// columns steps of 4 to 64; the order goes from 0, where all rows weigh the same, to where only the nearest counts.
#include "conformance/kernel_regression/kernel_regression_problems.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "conformance/kernel_regression/kernel_regression_case.h"

namespace tessera::conformance {

namespace {

class RegressionCaseList {
 public:
  explicit RegressionCaseList(std::vector<std::unique_ptr<Case>>& cases) : cases_(&cases) {}
  void add(RegressionSpec spec) { cases_->push_back(make_regression_case(std::move(spec))); }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
};

/// Everything is wanted, and the scale is such that some rows beside the nearest count.
KernelRegression regression_of(DataType type, std::int64_t rows, std::int64_t columns, std::int64_t queries) {
  return {.training_rows = rows,
          .columns = columns,
          .queries = queries,
          .order = 1,
          .scale = type == DataType::uint8 ? 1.0 / 128 : 1.0,
          .classes = 4,
          .nearest = true,
          .neighbours = true,
          .type = type};
}

void add_sizes(RegressionCaseList& list, DataType type) {
  for (const std::int64_t rows : {1, 2, 15, 16, 17, 63, 65, 127, 129, 255, 257, 1023, 1025, 20011, 40009}) {
    list.add({.problem = regression_of(type, rows, 19, 5), .every_tuning = rows > 32768});
  }
  for (const std::int64_t columns : {1, 2, 3, 4, 5, 15, 16, 31, 33, 63, 64, 65, 127, 130, 257, 784}) {
    list.add({.problem = regression_of(type, 70, columns, 9)});
  }
  for (const std::int64_t queries : {0, 1, 2, 7, 8, 15, 17, 31, 33, 63, 65, 129, 257}) {
    list.add({.problem = regression_of(type, 101, 21, queries)});
  }
  list.add({.problem = regression_of(type, 4099, 7, 3)});
  list.add({.problem = regression_of(type, 4099, 9, 301)});
  list.add({.problem = regression_of(type, 1, 1, 1)});
  list.add({.problem = regression_of(type, 3, 5000, 2)});
  list.add({.problem = regression_of(type, 300, 67, 70), .every_tuning = true});
}

void add_options(RegressionCaseList& list, DataType type) {
  for (const Distance distance : {Distance::squared, Distance::euclidean}) {
    for (const double order : {0.0, 1e-3, 0.3, 1.0, 10.0, 1e6}) {
      KernelRegression problem = regression_of(type, 150, 33, 20);
      problem.distance = distance;
      problem.order = order;
      list.add({.problem = problem});
      problem.accuracy = Accuracy::strict;
      list.add({.problem = problem, .rows = RegressionRows::clusters});
    }
    KernelRegression digits = regression_of(type, 700, 64, 50);
    digits.distance = distance;
    digits.classes = 10;
    digits.order = 10;
    list.add({.problem = digits, .rows = RegressionRows::clusters, .every_tuning = true});
  }
  for (const std::int64_t outputs : {2, 3, 16, 33}) {
    KernelRegression problem = regression_of(type, 90, 20, 11);
    problem.outputs = outputs;
    list.add({.problem = problem, .misalignment = 1, .prepared = false});
  }
  for (int wanted = 0; wanted < 8; ++wanted) {
    KernelRegression problem = regression_of(type, 140, 24, 18);
    if ((wanted & 1) != 0) problem.classes = 0;
    if ((wanted & 2) != 0) problem.nearest = false;
    if ((wanted & 4) != 0) problem.neighbours = false;
    list.add({.problem = problem, .misalignment = 3, .prepared = wanted % 2 == 0});
  }
  KernelRegression many_classes = regression_of(type, 200, 12, 9);
  many_classes.classes = 100;
  list.add({.problem = many_classes});
}

/// Copies of training rows, of which the lowest is the nearest; constant data; rows far from 0.
void add_rows(RegressionCaseList& list, DataType type) {
  for (const Distance distance : {Distance::squared, Distance::euclidean}) {
    KernelRegression problem = regression_of(type, 130, 37, 40);
    problem.distance = distance;
    list.add({.problem = problem, .rows = RegressionRows::copies, .note = "copies"});
    list.add({.problem = problem, .rows = RegressionRows::constant, .note = "constant"});
    if (type == DataType::uint8) continue;
    list.add({.problem = problem, .offset = 1000, .note = "offset"});
    list.add({.problem = problem, .values = Values::wide, .note = "wide"});
    list.add({.problem = problem, .values = Values::tiny, .note = "tiny"});
    list.add({.problem = problem, .values = Values::large, .note = "large"});
  }
}

/// NaN and infinities: in a training row, in every one, in a query, in targets that count and that do not.
void add_not_finite(RegressionCaseList& list, DataType type) {
  if (type == DataType::uint8) return;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const KernelRegression problem = regression_of(type, 100, 18, 12);
  for (const double value : {nan, infinity, -infinity}) {
    const std::string name = value != value ? "nan" : value > 0 ? "inf" : "minf";
    list.add({.problem = problem, .plants = {{'t', 17 * 18 + 17, value}}, .note = name + "_in_row"});
    KernelRegression euclidean = problem;
    euclidean.distance = Distance::euclidean;
    list.add({.problem = euclidean, .plants = {{'t', 17 * 18 + 17, value}}, .note = name + "_in_row"});
    KernelRegression equal = problem;
    equal.order = 0;
    list.add({.problem = equal, .plants = {{'t', 17 * 18 + 17, value}}, .note = name + "_in_row"});
    list.add({.problem = problem, .plants = {{'q', 7 * 18, value}}, .note = name + "_in_query"});
    list.add({.problem = problem, .plants = {{'f', 99, value}}, .note = name + "_in_target"});
    std::vector<RegressionPlant> everywhere;
    for (std::int64_t row = 0; row < problem.training_rows; ++row) everywhere.push_back({'t', row * 18 + 3, value});
    list.add({.problem = problem, .plants = std::move(everywhere), .note = name + "_in_every_row"});
  }
}

/// One output and no votes, whose sums tensor cores keep beside their products: blocks of rows, lengths of rows up to
/// what is taken and beyond, weights that are all alike, and those of the nearest alone; more pieces than a device
/// computes at a time.
void add_without_votes(RegressionCaseList& list, DataType type) {
  const auto plain = [type](std::int64_t rows, std::int64_t columns, std::int64_t queries) {
    KernelRegression problem = regression_of(type, rows, columns, queries);
    problem.classes = 0;
    return problem;
  };
  for (const Distance distance : {Distance::squared, Distance::euclidean}) {
    for (const double order : {0.0, 1.0, 1e6}) {
      KernelRegression problem = plain(300, 67, 70);
      problem.distance = distance;
      problem.order = order;
      list.add({.problem = problem, .every_tuning = true});
    }
  }
  for (const std::int64_t rows : {1, 127, 129, 4099}) list.add({.problem = plain(rows, 9, rows == 4099 ? 301 : 17)});
  for (const std::int64_t columns : {1, 33, 865, 1033}) list.add({.problem = plain(130, columns, 40)});
  list.add({.problem = plain(130, 37, 40), .rows = RegressionRows::copies, .note = "copies"});
  list.add({.problem = plain(4099, 70, 1300), .every_tuning = true});
}

void add_slow(RegressionCaseList& list, DataType type) {
  list.add({.problem = regression_of(type, 70001, 3, 2), .purpose = Purpose::slow});
  list.add({.problem = regression_of(type, 3, 3, 70001), .purpose = Purpose::slow});
  list.add(
      {.problem = regression_of(type, 5003, 784, 301), .purpose = Purpose::slow, .rows = RegressionRows::clusters});
  list.add({.problem = regression_of(type, 2, 100003, 3), .purpose = Purpose::slow});
}

/// The study's training set, and 1,000 or all 10,000 of its test images; and a tenth of both, for slow devices.
void add_benchmarks(RegressionCaseList& list) {
  for (const DataType type : {DataType::uint8, DataType::float32, DataType::float64}) {
    for (const std::int64_t queries : {100, 1000, 10000}) {
      KernelRegression problem{.training_rows = queries == 100 ? 6000 : 60000,
                               .columns = 784,
                               .queries = queries,
                               .scale = type == DataType::uint8 ? 1.0 / 255 : 0.5,
                               .type = type};
      list.add({.problem = problem, .purpose = Purpose::benchmark, .rows = RegressionRows::clusters});
    }
  }
}

}  // namespace

ProblemSet kernel_regression_problem_set() {
  ProblemSet set{
      .operator_name = std::string(KernelRegression::kName), .cases = {}, .make_case = kernel_regression_case_of};
  RegressionCaseList list(set.cases);
  for (const DataType type : {DataType::uint8, DataType::float32, DataType::float64}) {
    add_sizes(list, type);
    add_options(list, type);
    add_rows(list, type);
    add_not_finite(list, type);
    add_without_votes(list, type);
    add_slow(list, type);
  }
  add_benchmarks(list);
  add_regression_study(set.cases);
  return set;
}

}  // namespace tessera::conformance
