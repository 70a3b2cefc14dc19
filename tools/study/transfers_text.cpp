// Field names and columns of transfers.
#include <fmt/format.h>

#include "tools/output/job_record.h"
#include "tools/output/table.h"
#include "tools/study/transfers.h"

namespace tessera::tool {

namespace {

Json times_json(const Measurement& measurement) {
  if (measurement.wall_s.count == 0) return {};
  return {{"device_time_s", to_json(measurement.device_s)}, {"wall_time_s", to_json(measurement.wall_s)}};
}

Json case_json(const conformance::Case* problem, CaseLabel label) {
  return problem == nullptr ? Json() : Json(label(*problem));
}

/// Bytes by the wall time, as who waits for them sees it.
Json rate_json(std::size_t bytes, const Measurement& measurement) {
  const double seconds = measurement.wall_s.median;
  return seconds > 0 ? Json(static_cast<double>(bytes) / seconds / 1e9) : Json();
}

std::string rate_text(std::size_t bytes, const Measurement& measurement) {
  const double seconds = measurement.wall_s.median;
  return seconds > 0 ? format_number(static_cast<double>(bytes) / seconds / 1e9) : "";
}

}  // namespace

Json to_json(const TransferRecord& record, CaseLabel label) {
  const Job& job = record.job;
  const bool measured = record.status == BenchStatus::verified;
  Json json = job_record(job, record.tuning, to_string(record.status), record.reason);
  json["label"] = label(*job.problem);
  json["host_memory"] = to_string(record.memory);
  json["error"] = error_record(record.outcome);
  json["upload_bytes"] = record.upload_bytes;
  json["download_bytes"] = record.download_bytes;
  json["upload"] = measured ? times_json(record.upload) : Json();
  json["compute"] = measured ? times_json(record.compute) : Json();
  json["download"] = measured ? times_json(record.download) : Json();
  json["upload_gbytes_per_s"] = measured ? rate_json(record.upload_bytes, record.upload) : Json();
  json["download_gbytes_per_s"] = measured ? rate_json(record.download_bytes, record.download) : Json();
  json["whole"] = measured ? times_json(record.whole) : Json();
  json["gflops"] = measured ? Json(job.problem->work().flops / record.whole.wall_s.median / 1e9) : Json();
  return json;
}

Json to_json(const BreakEven& result, CaseLabel label) {
  return {{"device", result.device->name},
          {"host_memory", to_string(result.memory)},
          {"rival", result.rival->name},
          {"wins_from", case_json(result.wins_from, label)},
          {"loses_at", case_json(result.loses_at, label)}};
}

std::string transfers_text(const std::vector<TransferRecord>& records, CaseLabel label) {
  Table table({{"device"},
               {"memory"},
               {"variant"},
               {"case"},
               {"upload", Align::right},
               {"GB/s", Align::right},
               {"compute", Align::right},
               {"download", Align::right},
               {"GB/s", Align::right},
               {"whole", Align::right},
               {"GFLOP/s", Align::right},
               {"error/bound", Align::right},
               {"status"}});
  std::string notes;
  for (const TransferRecord& record : records) {
    const Job& job = record.job;
    std::vector<std::string> cells{job.device->name, std::string(to_string(record.memory)), job.variant,
                                   label(*job.problem)};
    cells.resize(11);
    if (record.status == BenchStatus::verified) {
      cells[4] = format_seconds(record.upload.wall_s.median);
      cells[5] = rate_text(record.upload_bytes, record.upload);
      cells[6] = format_seconds(record.compute.wall_s.median);
      cells[7] = format_seconds(record.download.wall_s.median);
      cells[8] = rate_text(record.download_bytes, record.download);
      cells[9] = format_seconds(record.whole.wall_s.median);
      cells[10] = format_number(job.problem->work().flops / record.whole.wall_s.median / 1e9);
    }
    cells.push_back(error_cell(record.outcome));
    cells.push_back(status_cell(to_string(record.status), record.reason));
    table.add_row(std::move(cells));
    if (!record.reason.empty()) {
      notes += fmt::format("  {} {} {}: {}\n", job.device->name, to_string(record.memory), label(*job.problem),
                           record.reason);
    }
  }
  return with_notes(table.render(), notes);
}

std::string break_even_text(const std::vector<BreakEven>& results, CaseLabel label) {
  std::string text;
  for (const BreakEven& result : results) {
    text += fmt::format("{} with {} memory, transfers counted, against {} without any: ", result.device->name,
                        to_string(result.memory), result.rival->name);
    if (result.wins_from == nullptr) {
      text += fmt::format("loses up to {}, the largest measured\n", label(*result.loses_at));
    } else if (result.loses_at == nullptr) {
      text += fmt::format("wins from {} on, the smallest measured\n", label(*result.wins_from));
    } else {
      text += fmt::format("wins from {} on, loses at {}\n", label(*result.wins_from), label(*result.loses_at));
    }
  }
  return text;
}

}  // namespace tessera::tool
