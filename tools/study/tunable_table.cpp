// Speeds by tuning value.
#include "tools/study/tunable_table.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

/// A value for each of the row's tunables; 0 for what a record that was not run has none of.
using Values = std::vector<std::int64_t>;

Values values_of(const BenchRecord& record, const TunableRow& row) {
  Values values;
  for (const std::string& tunable : row.tunables) {
    const auto found = record.tuning.find(tunable);
    values.push_back(found == record.tuning.end() ? 0 : found->second);
  }
  return values;
}

/// One number before pairs, and by size.
bool comes_before(const Values& left, const Values& right) {
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

/// "8", or "64x128".
std::string text_of(const Values& values) {
  return fmt::format("{}", fmt::join(values, "x"));
}

bool has_values(const BenchRecord& record, const TunableRow& row) {
  return !row.tunables.empty() &&
         std::all_of(row.tunables.begin(), row.tunables.end(),
                     [&](const std::string& tunable) { return record.tuning.count(tunable) != 0; });
}

bool is_of_row(const BenchRecord& record, const BenchRecord& preferred) {
  const Job& left = record.job;
  const Job& right = preferred.job;
  return left.device == right.device && left.problem == right.problem && left.variant == right.variant;
}

/// GFLOP/s, or the status of what has no speed.
std::string speed_text(const BenchRecord& record) {
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
        row.tunables.clear();
        for (const auto& [name, value] : record.job.tuning) row.tunables.push_back(name);
        row.by_value.push_back(&record);
        break;
      }
    }
    // The record of a variant that was not run has no tuning, so its preferred value is unknown.
    if (has_values(preferred, row)) row.by_value.push_back(&preferred);
    std::sort(row.by_value.begin(), row.by_value.end(), [&](const BenchRecord* left, const BenchRecord* right) {
      return values_of(*left, row) < values_of(*right, row);
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
    entry["tunable"] = row.tunables.empty() ? Json() : Json(fmt::format("{}", fmt::join(row.tunables, " x ")));
    entry["preferred_gflops"] = speed(*row.preferred);
    const bool is_known = has_values(*row.preferred, row);  // not if the variant was not run
    entry["preferred"] = is_known ? Json(text_of(values_of(*row.preferred, row))) : Json();
    entry["gflops"] = Json::object();
    for (const BenchRecord* record : row.by_value) {
      entry["gflops"][text_of(values_of(*record, row))] = speed(*record);
    }
    json.push_back(std::move(entry));
  }
  return json;
}

std::string tunable_text(const std::vector<TunableRow>& rows, CaseLabel label) {
  if (rows.empty()) return {};
  std::set<Values, decltype(&comes_before)> values(comes_before);
  for (const TunableRow& row : rows) {
    for (const BenchRecord* record : row.by_value) values.insert(values_of(*record, row));
  }
  std::vector<Table::Column> columns{{"device"}, {"case"}, {"variant"}, {"tunable"}};
  for (const Values& value : values) columns.push_back({text_of(value), Align::right});
  columns.push_back({"preferred", Align::right});
  Table table(std::move(columns));
  for (const TunableRow& row : rows) {
    const Job& job = row.preferred->job;
    std::vector<std::string> cells{job.device->name, label(*job.problem), job.variant,
                                   fmt::format("{}", fmt::join(row.tunables, " x "))};
    for (const Values& value : values) {
      const auto found = std::find_if(row.by_value.begin(), row.by_value.end(),
                                      [&](const BenchRecord* record) { return values_of(*record, row) == value; });
      cells.push_back(found == row.by_value.end() ? "" : speed_text(**found));
    }
    cells.push_back(speed_text(*row.preferred));
    table.add_row(std::move(cells));
  }
  return table.render();
}

}  // namespace tessera::tool
