// Speeds by tuning value.
#include "tools/study/tunable_table.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

std::int64_t value_of(const BenchRecord& record, const std::string& tunable) {
  const auto found = record.tuning.find(tunable);
  return found == record.tuning.end() ? 0 : found->second;
}

bool is_of_row(const BenchRecord& record, const BenchRecord& preferred) {
  const Job& left = record.job;
  const Job& right = preferred.job;
  return left.device == right.device && left.problem == right.problem && left.variant == right.variant;
}

/// GFLOP/s, or the status of what has no speed.
std::string cell_of(const BenchRecord& record) {
  return record.measurement ? format_number(speed_of(record)) : std::string(to_string(record.status));
}

}  // namespace

std::vector<TunableRow> tunable_rows(const BenchRecords& records, const std::vector<std::string_view>& tunables) {
  std::vector<TunableRow> rows;
  for (const BenchRecord& preferred : records) {
    if (preferred.job.is_extra || !preferred.job.problem->tries_every_tuning()) continue;
    TunableRow row;
    row.preferred = &preferred;
    for (const BenchRecord& record : records) {
      if (!record.job.is_extra || !is_of_row(record, preferred)) continue;
      for (const std::string_view tunable : tunables) {
        if (record.job.tuning.count(std::string(tunable)) == 0) continue;
        row.tunable = tunable;
        row.by_value.push_back(&record);
      }
    }
    // The record of a variant that was not run has no tuning, so its preferred value is unknown.
    if (!row.tunable.empty() && preferred.tuning.count(row.tunable) != 0) row.by_value.push_back(&preferred);
    std::sort(row.by_value.begin(), row.by_value.end(), [&](const BenchRecord* left, const BenchRecord* right) {
      return value_of(*left, row.tunable) < value_of(*right, row.tunable);
    });
    rows.push_back(std::move(row));
  }
  return rows;
}

Json to_json(const std::vector<TunableRow>& rows, CaseLabel label) {
  Json json = Json::array();
  for (const TunableRow& row : rows) {
    const Job& job = row.preferred->job;
    const auto speed = [](const BenchRecord& record) { return record.measurement ? Json(speed_of(record)) : Json(); };
    Json entry{{"device", job.device->name}, {"variant", job.variant}, {"case", label(*job.problem)}};
    entry["is_vendor"] = is_vendor(job.variant);
    entry["tunable"] = row.tunable.empty() ? Json() : Json(row.tunable);
    entry["preferred_gflops"] = speed(*row.preferred);
    const bool is_known = row.preferred->tuning.count(row.tunable) != 0;  // not if the variant was not run
    entry["preferred"] = is_known ? Json(value_of(*row.preferred, row.tunable)) : Json();
    entry["gflops"] = Json::object();
    for (const BenchRecord* record : row.by_value) {
      entry["gflops"][fmt::format("{}", value_of(*record, row.tunable))] = speed(*record);
    }
    json.push_back(std::move(entry));
  }
  return json;
}

std::string tunable_text(const std::vector<TunableRow>& rows, CaseLabel label) {
  if (rows.empty()) return {};
  std::set<std::int64_t> values;
  for (const TunableRow& row : rows) {
    for (const BenchRecord* record : row.by_value) values.insert(value_of(*record, row.tunable));
  }
  std::vector<Table::Column> columns{{"device"}, {"case"}, {"variant"}, {"tunable"}};
  for (const std::int64_t value : values) columns.push_back({fmt::format("{}", value), Align::right});
  columns.push_back({"preferred", Align::right});
  Table table(std::move(columns));
  for (const TunableRow& row : rows) {
    const Job& job = row.preferred->job;
    std::vector<std::string> cells{job.device->name, label(*job.problem), job.variant, row.tunable};
    for (const std::int64_t value : values) {
      const auto found = std::find_if(row.by_value.begin(), row.by_value.end(), [&](const BenchRecord* record) {
        return value_of(*record, row.tunable) == value;
      });
      cells.push_back(found == row.by_value.end() ? "" : cell_of(**found));
    }
    cells.push_back(cell_of(*row.preferred));
    table.add_row(std::move(cells));
  }
  return table.render();
}

}  // namespace tessera::tool
