// Tunings and speeds.
#include "tools/study/tuning_list.h"

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

Json tuning_list_json(const BenchRecords& records, CaseLabel label) {
  Json json = Json::array();
  for (const BenchRecord& record : records) {
    const Job& job = record.job;
    Json entry{{"device", job.device->name}, {"variant", job.variant}, {"case", label(*job.problem)}};
    entry["tuning"] = Json::object();
    for (const auto& [name, value] : job.tuning) entry["tuning"][name] = value;
    entry["seconds"] = record.measurement ? Json(record.measurement->device_s.median) : Json();
    entry["gflops"] = record.measurement ? Json(speed_of(record)) : Json();
    json.push_back(std::move(entry));
  }
  return json;
}

std::string tuning_list_text(const BenchRecords& records, CaseLabel label) {
  if (records.empty()) return {};
  Table table({{"device"}, {"case"}, {"variant"}, {"tuning"}, {"time", Align::right}, {"GFLOP/s", Align::right}});
  for (const BenchRecord& record : records) {
    const Job& job = record.job;
    std::string tuning;
    for (const auto& [name, value] : job.tuning)
      tuning += fmt::format("{}{}={}", tuning.empty() ? "" : " ", name, value);
    table.add_row({job.device->name, label(*job.problem), job.variant, tuning,
                   record.measurement ? format_seconds(record.measurement->device_s.median) : "",
                   record.measurement ? format_number(speed_of(record)) : std::string(to_string(record.status))});
  }
  return table.render();
}

}  // namespace tessera::tool
