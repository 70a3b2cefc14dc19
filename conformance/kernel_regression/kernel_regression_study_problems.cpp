// The cases of kernel_regression's study: 60000 training images of 784 pixels and 1000 queries, as bytes and as
// numbers; a tenth of it for what is slow; tuning values are tried on the tenth, and in bytes on the whole; and series
// over queries and over training rows.
#include "conformance/kernel_regression/kernel_regression_problems.h"

#include <cstdint>
#include <utility>

#include "conformance/kernel_regression/kernel_regression_case.h"

namespace tessera::conformance {

namespace {

constexpr std::int64_t kPixels = 784;

class StudyCases {
 public:
  StudyCases(std::vector<std::unique_ptr<Case>>& cases, Purpose purpose) : cases_(&cases), purpose_(purpose) {}

  void add(std::string_view part, DataType type, std::int64_t rows, std::int64_t queries, bool every_tuning = false) {
    const KernelRegression problem{.training_rows = rows,
                                   .columns = purpose_ == Purpose::study ? kPixels : 37,
                                   .queries = queries,
                                   .scale = type == DataType::uint8 ? 1.0 / 255 : 0.5,
                                   .type = type};
    RegressionSpec spec{.problem = problem,
                        .purpose = purpose_,
                        .rows = RegressionRows::clusters,
                        .every_tuning = every_tuning,
                        .part = part};
    spec.note = std::string(part) + (purpose_ == Purpose::study ? "_study" : "_study_quick");
    cases_->push_back(make_regression_case(std::move(spec)));
  }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
  Purpose purpose_;
};

}  // namespace

void add_regression_study(std::vector<std::unique_ptr<Case>>& cases) {
  StudyCases study(cases, Purpose::study);
  for (const DataType type : {DataType::uint8, DataType::float32, DataType::float64}) {
    study.add(kRegressionStudyVersions, type, 6000, 100, true);
    // With one thread a block the study's second version takes 44 s in double: its blocks are tried whole in bytes
    // alone.
    study.add(kRegressionStudyVersions, type, 60000, 1000, type == DataType::uint8);
  }
  for (const DataType type : {DataType::uint8, DataType::float32}) {
    for (const std::int64_t queries : {1, 10, 100, 1000, 10000})
      study.add(kRegressionStudyQueries, type, 60000, queries);
    for (const std::int64_t rows : {600, 2000, 6000, 20000, 60000}) study.add(kRegressionStudyRows, type, rows, 1000);
  }
  StudyCases quick(cases, Purpose::quick_study);
  quick.add(kRegressionStudyVersions, DataType::uint8, 70, 9, true);
  quick.add(kRegressionStudyVersions, DataType::float32, 70, 9, true);
  quick.add(kRegressionStudyQueries, DataType::uint8, 70, 3);
  quick.add(kRegressionStudyRows, DataType::uint8, 150, 5);
}

}  // namespace tessera::conformance
