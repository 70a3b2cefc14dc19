// For each operator: variants beside each other at its largest problem, speed over size, errors beside their bounds,
// and the table behind all that.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "tools/output/table.h"
#include "tools/report/charts.h"
#include "tools/report/page.h"
#include "tools/report/svg.h"

namespace tessera::tool {

namespace {

using Records = std::vector<const ReportRecord*>;

std::string tip_of(const ReportRecord& record) {
  return fmt::format("{} on {}, {}{}{}: {} GFLOP/s, {}, spread {:.1f} %", record.variant, record.device, record.problem,
                     record.tuning.empty() ? "" : ", ", record.tuning, format_number(record.gflops),
                     format_seconds(record.median_s), 100 * record.spread);
}

/// Of each variant its fastest record.
Records fastest_of_variants(const Records& records) {
  std::map<std::pair<std::string, std::string>, const ReportRecord*> best;
  for (const ReportRecord* record : records) {
    const ReportRecord*& entry = best[{record->device, record->variant}];
    if (entry == nullptr || record->gflops > entry->gflops) entry = record;
  }
  Records found;
  for (const auto& [key, record] : best) found.push_back(record);
  std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->gflops > b->gflops; });
  return found;
}

/// The problem that most devices have, and of these the one of most work.
std::string showpiece_of(const Records& records) {
  std::map<std::string, std::pair<std::set<std::string>, double>> problems;
  for (const ReportRecord* record : records) {
    auto& [devices, work] = problems[record->problem];
    devices.insert(record->device);
    work = std::max(work, record->work());
  }
  const auto rank = [](const auto& entry) { return std::pair(entry.second.first.size(), entry.second.second); };
  const auto best = std::max_element(problems.begin(), problems.end(),
                                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return best == problems.end() ? "" : best->first;
}

std::string bars_of(const std::string& operator_name, const Records& records, const ReportInput& input) {
  const std::string problem = showpiece_of(records);
  Records shown;
  std::copy_if(records.begin(), records.end(), std::back_inserter(shown),
               [&](const auto* record) { return record->problem == problem; });
  std::vector<BarGroup> groups;
  for (const ReportRecord* record : fastest_of_variants(shown)) {
    const ReportDevice* const device = input.find_device(record->device);
    const std::string name = device == nullptr ? record->device : fmt::format("{}  {}", record->device, device->name);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const BarGroup& one) { return one.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {.name = name, .bars = {}});
    group->bars.push_back(
        {.label = record->variant,
         .value = record->gflops,
         .words = fmt::format("{} GFLOP/s  {}", format_number(record->gflops), format_seconds(record->median_s)),
         .tip = tip_of(*record),
         .is_ours = !record->is_peer(),
         .is_default = record->is_default});
  }
  if (groups.empty()) return "";
  return figure(fmt::format("{}, {}: every variant that was measured, each with its fastest tuning. Bold: what the "
                            "library takes by itself. Outlined: other libraries.",
                            operator_name, problem),
                bar_chart(operator_name + " " + problem, "GFLOP/s of each variant, device by device", groups));
}

std::string sizes_of(const std::string& operator_name, const std::string& type, const Records& records) {
  std::map<std::pair<std::string, bool>, std::map<double, const ReportRecord*>> lines;
  std::set<std::string> problems;
  for (const ReportRecord* record : records) {
    if (!record->is_default && !record->is_peer()) continue;
    const ReportRecord*& best = lines[{record->device, record->is_peer()}][std::round(record->work() * 1e6)];
    if (best == nullptr || record->gflops > best->gflops) best = record;
    problems.insert(record->problem);
  }
  if (problems.size() < 3) return "";
  std::vector<Series> series;
  std::map<std::string, int> looks;
  for (const auto& [key, points] : lines) {
    const auto& [device, is_peer] = key;
    const int look = looks.emplace(device, static_cast<int>(looks.size())).first->second;
    Series one{.name = device + (is_peer ? ", fastest other library" : ", default"),
               .points = {},
               .is_dashed = is_peer,
               .look = look};
    for (const auto& [work, record] : points)
      one.points.push_back({record->work() * 1e9, record->gflops, tip_of(*record)});
    series.push_back(std::move(one));
  }
  return figure(fmt::format("{}, {}: speed over the problem's operations.", operator_name, type),
                xy_chart(fmt::format("{} {}, speed over size", operator_name, type),
                         "GFLOP/s over the operations of the problem, on logarithmic axes", {.label = "operations"},
                         {.label = "GFLOP/s"}, std::move(series)));
}

std::string errors_of(const std::string& operator_name, const Records& records) {
  std::map<std::string, Series> by_device;
  for (const ReportRecord* record : records) {
    if (!(record->bound > 0) || !(record->error > 0)) continue;
    Series& series = by_device[record->device];
    series.points.push_back({record->work() * 1e9, record->error / record->bound,
                             fmt::format("{} {}: error {:.2e}, bound {:.2e}", record->variant, record->problem,
                                         record->error, record->bound)});
  }
  std::vector<Series> series;
  for (auto& [device, one] : by_device) {
    one.name = device;
    one.has_line = false;
    one.look = static_cast<int>(series.size());
    series.push_back(std::move(one));
  }
  return figure(
      fmt::format("{}: the worst error of each result as a share of its bound, which is 1. Exact results are "
                  "not shown.",
                  operator_name),
      xy_chart(operator_name + ", error over bound", "Error as a share of the bound over the problem's operations",
               {.label = "operations"}, {.label = "error / bound"}, std::move(series)));
}

std::string table_of(const Records& records) {
  HtmlTable table({"device", "variant", "problem", "tuning", "# device time", "# spread", "# GFLOP/s", "# GB/s",
                   "# of peak", "# error / bound", "hardware", "status"});
  const auto number = [](double value) { return std::isnan(value) ? std::string() : format_number(value); };
  for (const ReportRecord* record : records) {
    const bool has_time = record->is_verified() && record->median_s > 0;
    table.add_row(
        {record->device, record->variant + (record->is_default ? " (default)" : ""), record->problem, record->tuning,
         has_time ? format_seconds(record->median_s) : "",
         has_time && !std::isnan(record->spread) ? fmt::format("{:.1f} %", 100 * record->spread) : "",
         has_time ? number(record->gflops) : "", has_time ? number(record->gbytes_per_s) : "",
         has_time && !std::isnan(record->peak_share) ? fmt::format("{:.1f} %", 100 * record->peak_share) : "",
         number(record->error / record->bound), record->hardware,
         (record->is_cold ? "cold, " : "") + record->status + (record->reason.empty() ? "" : ": " + record->reason)},
        record->is_verified()                                            ? ""
        : record->status == "unsupported" || record->status == "skipped" ? "quiet"
                                                                         : "bad");
  }
  return table.folded(fmt::format("All {} records", records.size()));
}

}  // namespace

std::string operators_section(const ReportInput& input) {
  std::vector<std::string> operators;
  for (const ReportRecord& record : input.records) {
    if (record.is_random) continue;
    if (std::find(operators.begin(), operators.end(), record.operator_name) == operators.end())
      operators.push_back(record.operator_name);
  }
  std::string html;
  for (const std::string& name : operators) {
    Records all, timed;
    std::vector<std::string> types;
    for (const ReportRecord& record : input.records) {
      if (record.operator_name != name || record.is_random) continue;
      all.push_back(&record);
      if (!record.is_verified() || !(record.gflops > 0) || !(record.median_s > 0)) continue;
      timed.push_back(&record);
      if (std::find(types.begin(), types.end(), record.type) == types.end()) types.push_back(record.type);
    }
    html += fmt::format("<h3>{}</h3>\n", escaped(name));
    for (const std::string& type : types) {
      Records of_type;
      std::copy_if(timed.begin(), timed.end(), std::back_inserter(of_type),
                   [&](const auto* record) { return record->type == type; });
      html += bars_of(name, of_type, input) + sizes_of(name, type, of_type);
    }
    html += errors_of(name, timed) + table_of(all);
  }
  return html;
}

}  // namespace tessera::tool
