// Runs studies and writes down what they found.
#include "tools/study/study.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/bench/peak_shares.h"
#include "tools/command.h"
#include "tools/process/interrupt.h"
#include "tools/process/usage_error.h"
#include "tools/study/study_bench.h"

namespace tessera::tool {

namespace {

std::vector<const Study*> chosen_studies(const std::string& name) {
  std::vector<const Study*> chosen;
  std::string known;
  for (const Study& study : studies()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", study.operator_name);
    if (name == "all" || name == study.operator_name) chosen.push_back(&study);
  }
  if (chosen.empty()) throw UsageError(fmt::format("there is no study of '{}', there are: {}", name, known));
  return chosen;
}

/// UsageError if no chosen study has a part of one of these names.
void check_parts(const std::vector<std::string>& asked, const std::vector<const Study*>& chosen) {
  std::vector<std::string_view> known;
  for (const Study* study : chosen) {
    known.insert(known.end(), study->parts.begin(), study->parts.end());
    known.insert(known.end(), study->parts_on_request.begin(), study->parts_on_request.end());
  }
  for (const std::string& part : asked) {
    if (std::find(known.begin(), known.end(), part) != known.end()) continue;
    throw UsageError(fmt::format("there is no part '{}' of the study, there are: {}", part, fmt::join(known, ", ")));
  }
}

/// Is anything of this study asked for?
bool has_part(const Study& study, const StudyRequest& request) {
  const auto is_named = [&](std::string_view part) {
    return std::find(request.parts.begin(), request.parts.end(), part) != request.parts.end();
  };
  return request.parts.empty() || std::any_of(study.parts.begin(), study.parts.end(), is_named) ||
         std::any_of(study.parts_on_request.begin(), study.parts_on_request.end(), is_named);
}

/// The parts of the study that were asked for and measured: an interrupted study did not get to all of them. Copies are
/// no records of a case.
Json parts_of(const Study& study, const StudyBench& bench, const StudyResult& found) {
  Json parts = Json::array();
  for (const std::vector<std::string_view>& list : {study.parts, study.parts_on_request}) {
    for (const std::string_view part : list) {
      const auto is_of_part = [&](const BenchRecord& record) { return record.job.problem->part() == part; };
      const bool has_records = std::any_of(found.records.begin(), found.records.end(), is_of_part) ||
                               (part == "transfers" && !found.transfers.empty());
      if (bench.wants(part) && has_records) parts.push_back(part);
    }
  }
  return parts;
}

/// What has no speed or a remark: failures one by one, the rest counted, with the first one's reason.
std::string notes_on(const std::vector<BenchRecord>& records, const Study& study, bool quick) {
  std::string failures;
  std::map<std::tuple<std::string, std::string, std::string_view>, std::pair<std::size_t, std::string>> others;
  for (const BenchRecord& record : records) {
    if (record.reason.empty()) continue;
    const Job& job = record.job;
    const std::string sentence = fmt::format("{}: {}", study.label(*job.problem), record.reason);
    if (record.status == BenchStatus::failed) {
      failures += fmt::format("FAILED  {} {} {}\n  reproduce: {} --study{}\n", job.device->name, job.variant, sentence,
                              command_line("bench", job), quick ? " --quick" : "");
      continue;
    }
    auto& [count, first] = others[{job.device->name, job.variant, to_string(record.status)}];
    if (count++ == 0) first = sentence;
  }
  std::string text = failures;
  for (const auto& [key, other] : others) {
    const auto& [device, variant, status] = key;
    text += fmt::format("{} {}, {} {}, for instance {}\n", device, variant, other.first, status, other.second);
  }
  return text;
}

/// Nothing failed, and something was measured.
bool is_success(const StudyResult& result) {
  bool failed = false;
  bool measured = false;
  const auto look = [&](BenchStatus status) {
    failed = failed || status == BenchStatus::failed;
    measured = measured || status == BenchStatus::verified;
  };
  for (const BenchRecord& record : result.records) look(record.status);
  for (const TransferRecord& record : result.transfers) look(record.status);
  return measured && !failed;
}

Json to_json(const MeasurementLimits& limits) {
  return {{"warm_up_s", limits.warm_up_s},
          {"first_warm_up_s", limits.first_warm_up_s},
          {"min_time_s", limits.min_time_s},
          {"time_limit_s", limits.time_limit_s},
          {"one_run_limit_s", limits.one_run_limit_s},
          {"repetitions", limits.repetitions}};
}

}  // namespace

std::int64_t size_of(const conformance::Case& problem, std::string_view name) {
  for (const conformance::Field& field : problem.problem()) {
    const auto* value = std::get_if<std::int64_t>(&field.value);
    if (value != nullptr && field.name == name) return *value;
  }
  return 0;
}

void print_table(std::ostream& text, std::string_view title, const std::string& table) {
  if (!table.empty()) text << "\n" << title << "\n\n" << table;
}

MeasurementLimits study_limits(bool quick) {
  MeasurementLimits limits{.warm_up_s = 0.02, .first_warm_up_s = 0.1, .min_time_s = 0.02, .time_limit_s = 0.15};
  if (quick) limits.warm_up_s = limits.first_warm_up_s = limits.min_time_s = 0;
  return limits;
}

int run_studies(const StudyRequest& request, std::ostream& text, Json& result) {
  const std::vector<const Study*> chosen = chosen_studies(request.selection.operator_name);
  check_parts(request.parts, chosen);
  const OpenDevices devices = open_devices(request.selection.devices, text);
  result["transfers"] = Json::array();
  result["studies"] = Json::array();
  bool success = devices.all_opened;
  DevicePeaks peaks;
  try {
    if (request.quick) {
      peaks = no_device_peaks(devices.list, "a quick study measures no peaks");
    } else {
      Progress progress(devices.list.size());
      find_device_peaks(devices.list, request.measure_peaks_again, progress, peaks);
    }
    for (const Study* study : chosen) {
      if (!has_part(*study, request)) continue;
      text << fmt::format("study of {}: {}{}\n", study->operator_name, study->summary,
                          request.quick ? " (quick: small sizes, whose speeds say nothing)" : "");
      StudyBench bench(*study, request, devices.list, peaks);
      StudyResult found = study->run(bench, text);
      Progress progress(found.records.size());
      settle_shares(found.records, peaks, progress);
      const std::string notes = notes_on(found.records, *study, request.quick);
      if (!notes.empty()) text << "\nnotes\n\n" << notes;
      for (const BenchRecord& record : found.records) {
        Json json = to_json(record);
        json["label"] = study->label(*record.job.problem);
        result["records"].push_back(std::move(json));
      }
      for (const TransferRecord& record : found.transfers) {
        result["transfers"].push_back(to_json(record, study->label));
      }
      Json entry{{"operator", study->operator_name},
                 {"parts", parts_of(*study, bench, found)},
                 {"quick", request.quick},
                 {"limits", to_json(request.limits)}};
      entry.update(found.conclusions);
      result["studies"].push_back(std::move(entry));
      success = success && is_success(found);
      stop_if_interrupted();
    }
  } catch (const Interrupted&) {
    // The caller writes the result so far, and then says that it was interrupted.
  }
  result["devices"] = devices_record(devices.list, peaks);
  return success ? kExitSuccess : kExitFailure;
}

}  // namespace tessera::tool
