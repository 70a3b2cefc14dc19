// Times and speed-ups by number of threads.
#include "tools/study/thread_table.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

double seconds_of(const BenchRecord& record) {
  return record.measurement->device_s.median;
}

}  // namespace

double ThreadRow::speed_up(std::int64_t threads) const {
  return seconds_of(first()) / seconds_of(*by_threads.at(threads));
}

double ThreadRow::efficiency(std::int64_t threads) const {
  return speed_up(threads) * static_cast<double>(by_threads.begin()->first) / static_cast<double>(threads);
}

std::vector<ThreadRow> thread_rows(const BenchRecords& records) {
  std::vector<ThreadRow> rows;
  std::map<std::tuple<std::string, const conformance::Case*, std::string>, std::size_t> places;
  for (const BenchRecord& record : records) {
    const Job& job = record.job;
    if (job.is_extra || record.status != BenchStatus::verified) continue;
    const auto [place, is_new] = places.try_emplace({job.device->info.id, job.problem, job.variant}, rows.size());
    if (is_new) rows.push_back({job.device->info.id, {}});
    rows[place->second].by_threads.emplace(job.device->info.compute_units, &record);
  }
  rows.erase(std::remove_if(rows.begin(), rows.end(), [](const ThreadRow& row) { return row.by_threads.size() < 2; }),
             rows.end());
  return rows;
}

Json to_json(const std::vector<ThreadRow>& rows, CaseLabel label) {
  Json json = Json::array();
  for (const ThreadRow& row : rows) {
    const Job& job = row.first().job;
    Json entry{{"operator", job.set->operator_name},
               {"device", row.device},
               {"variant", job.variant},
               {"case", label(*job.problem)}};
    entry["seconds"] = Json::object();
    entry["speed_up"] = Json::object();
    entry["efficiency"] = Json::object();
    for (const auto& [threads, record] : row.by_threads) {
      entry["seconds"][fmt::format("{}", threads)] = seconds_of(*record);
      entry["speed_up"][fmt::format("{}", threads)] = row.speed_up(threads);
      entry["efficiency"][fmt::format("{}", threads)] = row.efficiency(threads);
    }
    json.push_back(std::move(entry));
  }
  return json;
}

std::string thread_text(const std::vector<ThreadRow>& rows, CaseLabel label) {
  if (rows.empty()) return {};
  std::set<std::int64_t> numbers;
  for (const ThreadRow& row : rows) {
    for (const auto& [threads, record] : row.by_threads) numbers.insert(threads);
  }
  std::vector<Table::Column> columns{{"device"}, {"case"}, {"variant"}};
  for (const std::int64_t threads : numbers) {
    columns.push_back({threads == 1 ? "1 thread" : fmt::format("{} threads", threads), Align::right});
    columns.push_back({"speed-up", Align::right});
    columns.push_back({"efficiency", Align::right});
  }
  Table table(std::move(columns));
  for (const ThreadRow& row : rows) {
    const Job& job = row.first().job;
    std::vector<std::string> cells{row.device, label(*job.problem), job.variant};
    for (const std::int64_t threads : numbers) {
      const auto found = row.by_threads.find(threads);
      const bool is_there = found != row.by_threads.end();
      cells.push_back(is_there ? format_seconds(seconds_of(*found->second)) : "");
      cells.push_back(is_there ? fmt::format("{:.2f}", row.speed_up(threads)) : "");
      cells.push_back(is_there ? fmt::format("{:.0f} %", 100 * row.efficiency(threads)) : "");
    }
    table.add_row(std::move(cells));
  }
  return table.render();
}

}  // namespace tessera::tool
