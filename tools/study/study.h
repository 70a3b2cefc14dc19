// Studies: what `tessera bench OPERATOR --study` measures and concludes beyond a row for each variant. An operator's
// study is one file (<op>_study.cpp), its cases in the problem set (Purpose::study), a maker here and one line in
// study_list.cpp. What studies share is in study_bench (measuring), variant_scores, tunable_table, thread_table and
// transfers (concluding).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"
#include "tools/bench/bench_record.h"
#include "tools/bench/measurement.h"
#include "tools/output/result_file.h"
#include "tools/selection.h"
#include "tools/study/transfers.h"

namespace tessera::tool {

class StudyBench;

/// What a study found.
struct StudyResult {
  std::vector<BenchRecord> records;
  std::vector<TransferRecord> transfers;
  Json conclusions = Json::object();
};

/// One operator's study.
struct Study {
  std::string_view operator_name;
  std::string_view summary;  ///< what it asks, in one line
  /// What it is made of, each with cases of its own: Case::part(). Those behind are measured only where --part names
  /// them: they take minutes.
  std::vector<std::string_view> parts;
  std::vector<std::string_view> parts_on_request = {};
  /// The size of a case as its tables name it: "2048^3".
  std::string (*label)(const conformance::Case& problem);
  /// Measures with `bench` and prints its tables to `text`. After Ctrl-C it concludes from what there is.
  StudyResult (*run)(StudyBench& bench, std::ostream& text);
};

/// For labels: a number of the case's problem by its name, "m"; 0 if the problem has none of that name.
[[nodiscard]] std::int64_t size_of(const conformance::Case& problem, std::string_view name);

/// A table under its title; nothing where the table is empty.
void print_table(std::ostream& text, std::string_view title, const std::string& table);

[[nodiscard]] Study gemm_study();
[[nodiscard]] Study conv2d_study();
[[nodiscard]] Study cnn_layer_study();
[[nodiscard]] Study kernel_regression_study();
[[nodiscard]] Study patch_match_study();

/// Every study, one for an operator at most.
[[nodiscard]] const std::vector<Study>& studies();

struct StudyRequest {
  Selection selection;
  MeasurementLimits limits;
  std::vector<std::string> parts = {};  ///< of each study these alone; empty: all but those on request
  bool quick = false;                   ///< sizes that a test can run
  bool measure_peaks_again = false;
};

/// What limits a study has unless others are given: many records in minutes rather than few in the last digit.
[[nodiscard]] MeasurementLimits study_limits(bool quick);

/// The studies that the selection names: fills in the result, prints the tables. Returns the exit code. UsageError if
/// there is no study of the operator.
[[nodiscard]] int run_studies(const StudyRequest& request, std::ostream& text, Json& result);

}  // namespace tessera::tool
