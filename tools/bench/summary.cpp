// One row for each case and device.
#include "tools/bench/summary.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

/// What was verified of one case on one device.
struct Row {
  const BenchRecord* ours = nullptr;  ///< the default variant, or else the fastest of the library's own
  const BenchRecord* peer = nullptr;  ///< the fastest other library
};

bool is_better(const BenchRecord& record, const BenchRecord* than) {
  if (than == nullptr) return true;
  if (record.job.is_default != than->job.is_default) return record.job.is_default;
  return speed_of(record) > speed_of(*than);
}

std::string peer_cell(const Row& row) {
  if (row.peer == nullptr) return {};
  if (row.ours == nullptr) return fmt::format("{} alone", row.peer->job.variant);
  return fmt::format("{:.2f} x {}", speed_of(*row.ours) / speed_of(*row.peer), row.peer->job.variant);
}

}  // namespace

std::string summary_table(const std::vector<BenchRecord>& records) {
  // Rows stand where their first record does.
  std::vector<std::pair<const conformance::Case*, const OpenDevice*>> order;
  std::map<std::pair<const conformance::Case*, const OpenDevice*>, Row> rows;
  std::map<const conformance::Case*, double> best;
  std::map<std::string, std::pair<std::size_t, std::string>> others;
  std::map<std::string, std::size_t> left_out;
  std::string notes;
  for (const BenchRecord& record : records) {
    const Job& job = record.job;
    if (record.status == BenchStatus::failed) {
      notes += fmt::format("FAILED  {} {} {} {}: {}\n  reproduce: {}\n", job.set->operator_name, job.device->name,
                           job.variant, job.problem->name(), record.reason, command_line("bench", job));
    } else if (record.is_left_out) {
      ++left_out[job.set->operator_name];
    } else if (record.status == BenchStatus::skipped) {
      auto& [count, first] = others[fmt::format("{} {} {}", job.set->operator_name, job.device->name, job.variant)];
      if (count++ == 0) first = fmt::format("{}: {}", job.problem->name(), record.reason);
    }
    if (record.status != BenchStatus::verified) continue;
    const std::pair key(job.problem, job.device);
    if (rows.find(key) == rows.end()) order.push_back(key);
    Row& row = rows[key];
    const BenchRecord*& place = is_vendor(job.variant) ? row.peer : row.ours;
    if (is_better(record, place)) place = &record;
    double& fastest = best[job.problem];
    if (!is_vendor(job.variant)) fastest = std::max(fastest, speed_of(record));
  }
  Table table({{"case"},
               {"device"},
               {"variant"},
               {"device time", Align::right},
               {"spread", Align::right},
               {"GFLOP/s", Align::right},
               {"of peak", Align::right},
               {"of the best device", Align::right},
               {"beside the peer"}});
  std::map<std::string, std::string> passed;
  const conformance::Case* shown = nullptr;
  for (const auto& key : order) {
    const Row& row = rows.at(key);
    const BenchRecord& record = row.ours != nullptr ? *row.ours : *row.peer;
    const Statistics& time = record.measurement->device_s;
    const Job& job = record.job;
    const double fastest = best[job.problem];
    table.add_row({job.problem == shown ? "" : fmt::format("{} {}", job.set->operator_name, job.problem->name()),
                   job.device->name, job.variant, format_seconds(time.median),
                   fmt::format("{:.1f} %", 100 * time.spread), format_number(record.gflops),
                   record.peak ? fmt::format("{:.0f} %", 100 * record.peak->share) : "",
                   fastest > 0 ? fmt::format("{:.2f}", speed_of(record) / fastest) : "", peer_cell(row)});
    shown = job.problem;
    if (record.peak && record.peak->share > 1)
      passed.emplace(fmt::format("{} {} {}", job.set->operator_name, job.device->name, job.variant),
                     fmt::format("{}: {}", job.problem->name(), record.reason));
  }
  for (const auto& [who, what] : passed) notes += fmt::format("past a peak: {}, for instance {}\n", who, what);
  for (const auto& [who, other] : others)
    notes += fmt::format("skipped {} of {}, for instance {}\n", other.first, who, other.second);
  if (!left_out.empty()) {
    std::string list;
    for (const auto& [name, count] : left_out) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, name);
    notes += fmt::format("left out, for the budget has no room (--budget 0 measures them all): {}\n", list);
  }
  const std::string rendered = table.empty() ? "" : table.render();
  return rendered + (rendered.empty() || notes.empty() ? "" : "\n") + notes;
}

}  // namespace tessera::tool
