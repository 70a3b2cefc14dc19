// The study of kernel_regression. A published study classified 1000 images of digits from 60000 on a CPU (365.7 s) and,
// on a GPU, with a thread a training row (66 s), with all in one kernel of 4 threads a block (27.5 s), and with the
// differences in one kernel and norms and sums in a second (93.8 s with blocks of 2D and 1D, 21.0 s with 2D and 2D of
// 16 x 16). Here every variant does that on every device, in bytes, float and double, the three GPU versions over their
// blocks, and time is told over 1 to 10000 queries and over the training rows.
#include "tools/study/study.h"

#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conformance/kernel_regression/kernel_regression_problems.h"
#include "tools/study/series_table.h"
#include "tools/study/study_bench.h"
#include "tools/study/tunable_table.h"

namespace tessera::tool {

namespace {

/// Blocks of the study's second version and of its third one's kernels; of a pair the first.
constexpr std::string_view kThreads = "threads";
constexpr std::string_view kDifferenceRows = "difference_rows";
constexpr std::string_view kNormRows = "norm_rows";

/// "60000 rows, 1000 queries, uint8".
std::string regression_label(const conformance::Case& problem) {
  return fmt::format("{} rows, {} queries, {}", size_of(problem, "training_rows"), size_of(problem, "queries"),
                     to_string(problem.type()));
}

double queries_of(const conformance::Case& problem) {
  return static_cast<double>(size_of(problem, "queries"));
}

void run_regression_versions(StudyBench& bench, std::ostream& text, StudyResult& result) {
  result.records =
      bench.measure_variants(conformance::kRegressionStudyVersions, {kThreads, kDifferenceRows, kNormRows});
  const std::vector<DeviceScores> scores = score_variants(result.records);
  print_table(text, "variants on the study's data", scores_text(scores, regression_label));
  Json& devices = result.conclusions["devices"] = Json::array();
  for (const DeviceScores& device : scores) devices.push_back(to_json(device, regression_label));
  Json& blocks = result.conclusions["blocks"] = Json::array();
  for (const std::string_view tunable : {kThreads, kDifferenceRows, kNormRows}) {
    std::vector<TunableRow> rows = tunable_rows(result.records, {tunable});
    std::erase_if(rows, [](const TunableRow& row) { return row.tunables.empty(); });
    print_table(text, fmt::format("blocks by {}, GFLOP/s", tunable), tunable_text(rows, regression_label));
    for (Json& row : to_json(rows, regression_label)) blocks.push_back(std::move(row));
  }
}

StudyResult run_regression_study(StudyBench& bench, std::ostream& text) {
  StudyResult result;
  if (bench.wants(conformance::kRegressionStudyVersions)) run_regression_versions(bench, text, result);
  for (const auto& [part, title] : {std::pair{conformance::kRegressionStudyQueries, "time over queries"},
                                    std::pair{conformance::kRegressionStudyRows, "time over training rows"}}) {
    if (!bench.wants(part)) continue;
    std::vector<BenchRecord> series = bench.measure_variants(part, {});
    print_table(text, title, series_text(series, regression_label, "queries", queries_of));
    append(result.records, std::move(series));
  }
  return result;
}

}  // namespace

Study kernel_regression_study() {
  return {.operator_name = KernelRegression::kName,
          .summary = "every variant on the study's data, blocks of its GPU versions, 1 to 10000 queries, training rows",
          .parts = {conformance::kRegressionStudyVersions, conformance::kRegressionStudyQueries,
                    conformance::kRegressionStudyRows},
          .label = regression_label,
          .run = run_regression_study};
}

}  // namespace tessera::tool
