// Field names, columns and the comparison of the benchmark.
#include "tools/bench/bench_record.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tools/bench/hardware.h"
#include "tools/output/job_record.h"
#include "tools/output/table.h"

namespace tessera::tool {

namespace {

std::string tuning_text(const Tuning& tuning) {
  std::string text;
  for (const auto& [name, value] : tuning) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string name_of(const BenchRecord& record) {
  return fmt::format("{} {} {} {}", record.job.set->operator_name, record.job.device->name, record.job.variant,
                     record.job.problem->name());
}

std::string note_of(const BenchRecord& record) {
  std::string note = fmt::format("  {}: {}\n", name_of(record), record.reason);
  if (record.status == BenchStatus::failed)
    note += fmt::format("    reproduce: {}\n", command_line("bench", record.job));
  return note;
}

/// What is compared for one case, the best first: each device's fastest verified record, or every verified record if
/// only one device was measured.
std::vector<const BenchRecord*> compared(const std::vector<BenchRecord>& records, const conformance::Case* problem,
                                         bool one_device) {
  std::vector<const BenchRecord*> rows;
  for (const BenchRecord& record : records) {
    if (record.job.problem != problem || record.status != BenchStatus::verified) continue;
    const auto rival = std::find_if(rows.begin(), rows.end(), [&](const BenchRecord* other) {
      return !one_device && other->job.device == record.job.device;
    });
    if (rival == rows.end()) {
      rows.push_back(&record);
    } else if (speed_of(record) > speed_of(**rival)) {
      *rival = &record;
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BenchRecord* a, const BenchRecord* b) { return speed_of(*a) > speed_of(*b); });
  return rows;
}

}  // namespace

std::string_view to_string(BenchStatus status) noexcept {
  switch (status) {
    case BenchStatus::verified: return "verified";
    case BenchStatus::failed: return "failed";
    case BenchStatus::unsupported: return "unsupported";
    case BenchStatus::skipped: return "skipped";
  }
  return "";
}

double speed_of(const BenchRecord& record) noexcept {
  return record.gflops > 0 ? record.gflops : record.gbytes_per_s;
}

std::optional<double> others_share_of(const BenchRecord& record) noexcept {
  const bool is_cpu = record.job.device->info.kind == DeviceKind::cpu;
  return is_cpu && record.measurement ? record.measurement->others_share : std::nullopt;
}

bool is_vendor(std::string_view variant) noexcept {
  return variant.starts_with("vendor_");
}

Json to_json(const BenchRecord& record) {
  const Job& job = record.job;
  const bool measured = record.measurement.has_value();
  Json json = job_record(job, record.tuning, to_string(record.status), record.reason);
  json["is_default"] = job.is_default;
  json["error"] = error_record(record.outcome);
  json["error_factor"] = record.error_factor;
  json["memory"] =
      record.memory ? Json{{"prepared_bytes", record.memory->prepared_bytes}, {"run_bytes", record.memory->run_bytes}}
                    : Json();
  const bool has_run = record.outcome.has_value();
  json["hardware"] = has_run ? hardware_record(job.device->info, record.launches) : Json();
  json["device_time_s"] = measured ? to_json(record.measurement->device_s) : Json();
  json["wall_time_s"] = measured ? to_json(record.measurement->wall_s) : Json();
  json["others_share"] = others_share_of(record) ? Json(*others_share_of(record)) : Json();
  json["batch"] = measured ? Json(record.measurement->plan.batch) : Json();
  json["input_sets"] = record.input_sets;
  json["cold"] = record.flushed_bytes > 0;
  json["flushed_bytes"] = record.flushed_bytes > 0 ? Json(record.flushed_bytes) : Json();
  json["rounds_s"] = record.rounds_s;
  json["gflops"] = measured ? Json(record.gflops) : Json();
  json["gbytes_per_s"] = measured ? Json(record.gbytes_per_s) : Json();
  json["peak_share"] = record.peak ? Json(record.peak->share) : Json();
  json["peak"] = record.peak ? Json(record.peak->peak) : Json();
  return json;
}

std::string bench_table(const std::vector<BenchRecord>& records) {
  Table table({{"operator"},
               {"device"},
               {"variant"},
               {"tuning"},
               {"case"},
               {"device time", Align::right},
               {"spread", Align::right},
               {"wall time", Align::right},
               {"GFLOP/s", Align::right},
               {"GB/s", Align::right},
               {"of peak", Align::right},
               {"error/bound", Align::right},
               {"rms error", Align::right},
               {"status"}});
  std::string notes;
  for (const BenchRecord& record : records) {
    const Job& job = record.job;
    std::vector<std::string> cells{job.set->operator_name, job.device->name, job.variant, tuning_text(record.tuning),
                                   std::string(job.problem->name())};
    cells.resize(11);
    if (record.measurement) {
      const Measurement& measurement = *record.measurement;
      cells[5] = format_seconds(measurement.device_s.median);
      cells[6] = fmt::format("{:.1f} %", 100 * measurement.device_s.spread);
      cells[7] = format_seconds(measurement.wall_s.median);
      cells[8] = format_number(record.gflops);
      cells[9] = format_number(record.gbytes_per_s);
      if (record.peak) cells[10] = fmt::format("{:.1f} %", 100 * record.peak->share);
    }
    cells.push_back(error_cell(record.outcome));
    cells.push_back(rms_cell(record.outcome));
    cells.push_back(status_cell(to_string(record.status), record.reason));
    table.add_row(std::move(cells));
    if (!record.reason.empty()) notes += note_of(record);
  }
  return with_notes(table.render(), notes);
}

std::string comparison_table(const std::vector<BenchRecord>& records) {
  const bool one_device = std::all_of(records.begin(), records.end(), [&](const BenchRecord& record) {
    return record.job.device == records.front().job.device;
  });
  Table table({{"case"},
               {"device"},
               {one_device ? "variant" : "fastest variant"},
               {"GFLOP/s", Align::right},
               {"of the best", Align::right}});
  std::vector<const conformance::Case*> seen;
  for (const BenchRecord& record : records) {
    const conformance::Case* problem = record.job.problem;
    if (std::find(seen.begin(), seen.end(), problem) != seen.end()) continue;
    seen.push_back(problem);
    const auto rows = compared(records, problem, one_device);
    if (rows.size() < 2) continue;
    for (const BenchRecord* row : rows) {
      table.add_row({row == rows.front() ? fmt::format("{} {}", row->job.set->operator_name, problem->name()) : "",
                     row->job.device->name, row->job.variant, format_number(row->gflops),
                     fmt::format("{:.3f}", speed_of(*row) / speed_of(*rows.front()))});
    }
  }
  return table.empty() ? std::string() : table.render();
}

}  // namespace tessera::tool
