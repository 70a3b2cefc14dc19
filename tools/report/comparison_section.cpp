// Two and more files: the first beside each of the others, record by record. What moved by more than both spread is
// marked.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tools/bench/comparison.h"
#include "tools/output/table.h"
#include "tools/report/charts.h"
#include "tools/report/page.h"
#include "tools/report/svg.h"

namespace tessera::tool {

namespace {

std::string key_of(const ReportRecord& record) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", record.operator_name, record.device, record.variant, record.problem,
                     record.tuning);
}

OldTime time_of(const ReportRecord& record) {
  const auto known = [](double number) { return std::isnan(number) ? 0 : number; };
  return {record.median_s, known(record.spread), known(record.others_share)};
}

std::string beside(const ReportInput& first, const ReportInput& other) {
  std::map<std::string, const ReportRecord*> known;
  for (const ReportRecord& record : first.records) {
    if (record.is_verified() && record.median_s > 0) known.emplace(key_of(record), &record);
  }
  HtmlTable table({"operator", "device", "variant", "problem", "tuning", "# " + first.name, "# " + other.name,
                   "# times as fast", ""});
  std::map<std::string, Series> by_operator;
  int faster = 0, slower = 0, same = 0;
  for (const ReportRecord& record : other.records) {
    const auto found = known.find(key_of(record));
    if (!record.is_verified() || !(record.median_s > 0) || found == known.end()) continue;
    const ReportRecord& old = *found->second;
    const TimeChange change(time_of(old), time_of(record));
    const double speed = 1 / change.ratio();
    ++(change.is_faster() ? faster : change.is_slower() ? slower : same);
    table.add_row({record.operator_name, record.device, record.variant, record.problem, record.tuning,
                   format_seconds(old.median_s), format_seconds(record.median_s), fmt::format("{:.2f}", speed),
                   change.is_faster()   ? "faster"
                   : change.is_slower() ? "slower"
                                        : ""},
                  change.is_faster()   ? "good"
                  : change.is_slower() ? "bad"
                                       : "");
    by_operator[record.operator_name].points.push_back(
        {record.work() * 1e9, speed, fmt::format("{} {}: {:.2f}", record.variant, record.problem, speed)});
  }
  std::string html = fmt::format("<h3>{} beside {}</h3>\n", escaped(other.name), escaped(first.name));
  if (table.empty()) return html + "<p>These files have no record in common.</p>\n";
  html += fmt::format(
      "<p>{} records in common: {} faster, {} slower, {} without a change beyond both runs' spread "
      "together, 5 % at least, and what other programs may have cost.</p>\n",
      faster + slower + same, faster, slower, same);
  std::vector<Series> series;
  for (auto& [name, one] : by_operator) {
    one.name = name;
    one.has_line = false;
    one.look = static_cast<int>(series.size());
    series.push_back(std::move(one));
  }
  return html +
         figure(fmt::format("{} beside {}: how many times as fast each record is.", other.name, first.name),
                xy_chart("Times as fast", "Times as fast over the problem's operations", {.label = "operations"},
                         {.label = "times as fast"}, std::move(series))) +
         table.folded("All records in common");
}

}  // namespace

std::string comparison_section(const std::vector<ReportInput>& inputs) {
  std::string html;
  for (std::size_t i = 1; i < inputs.size(); ++i) html += beside(inputs.front(), inputs[i]);
  return html.empty() ? "" : "<h2>Side by side</h2>\n" + html;
}

}  // namespace tessera::tool
