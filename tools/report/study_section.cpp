// What studies measure besides: speed-up over threads, and the way to the device and back.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tools/output/table.h"
#include "tools/report/charts.h"
#include "tools/report/page.h"

namespace tessera::tool {

std::string threads_section(const ReportInput& input) {
  // A chart for each operator and device, with its last problem, the largest: the others are in the table.
  std::map<std::pair<std::string, std::string>, std::string> largest;
  for (const ReportThreads& row : input.threads) largest[{row.operator_name, row.device}] = row.problem;
  std::string html;
  for (const auto& [key, problem] : largest) {
    std::vector<Series> series;
    double most = 1;
    HtmlTable table({"variant", "problem", "# threads", "# speed-up", "# efficiency"});
    for (const ReportThreads& row : input.threads) {
      if (std::pair(row.operator_name, row.device) != key) continue;
      Series one{.name = row.variant, .points = {}, .look = static_cast<int>(series.size())};
      for (const auto& [threads, speed_up] : row.speed_up) {
        one.points.push_back(
            {threads, speed_up, fmt::format("{}, {:.0f} threads: {:.2f}", row.variant, threads, speed_up)});
        most = std::max(most, threads);
        table.add_row({row.variant, row.problem, fmt::format("{:.0f}", threads), fmt::format("{:.2f}", speed_up),
                       fmt::format("{:.0f} %", 100 * speed_up / threads)});
      }
      if (row.problem == problem) series.push_back(std::move(one));
    }
    series.push_back({.name = "as many times as threads",
                      .points = {{1, 1, ""}, {most, most, ""}},
                      .has_marks = false,
                      .is_dashed = true,
                      .look = -1});
    html += figure(fmt::format("{} on {}, {}: speed-up over threads.", key.first, key.second, problem),
                   xy_chart(fmt::format("{} on {}, speed-up over threads", key.first, key.second),
                            "Times as fast as with one thread", {.label = "threads", .is_log = false},
                            {.label = "speed-up", .is_log = false}, std::move(series))) +
            table.folded("All thread counts");
  }
  return html.empty() ? "" : "<h3>Threads</h3>\n" + html;
}

std::string transfers_section(const ReportInput& input) {
  HtmlTable table({"operator", "device", "problem", "host memory", "# upload", "# GB/s", "# compute", "# download",
                   "# GB/s", "# on the way"});
  const auto rate = [](double gbytes_per_s) {
    return std::isnan(gbytes_per_s) ? std::string() : format_number(gbytes_per_s);
  };
  for (const ReportTransfer& transfer : input.transfers) {
    const double all = transfer.upload_s + transfer.compute_s + transfer.download_s;
    table.add_row({transfer.operator_name, transfer.device, transfer.problem, transfer.host_memory,
                   format_seconds(transfer.upload_s), rate(transfer.upload_gbytes_per_s),
                   format_seconds(transfer.compute_s), format_seconds(transfer.download_s),
                   rate(transfer.download_gbytes_per_s),
                   all > 0 ? fmt::format("{:.0f} %", 100 * (1 - transfer.compute_s / all)) : ""});
  }
  if (table.empty()) return "";
  std::string html = "<h3>To the device and back</h3>\n";
  std::map<std::pair<std::string, std::string>, std::vector<Series>> charts;
  for (const ReportTransfer& transfer : input.transfers) {
    std::vector<Series>& series = charts[{transfer.operator_name, transfer.host_memory}];
    auto found =
        std::find_if(series.begin(), series.end(), [&](const Series& one) { return one.name == transfer.device; });
    if (found == series.end()) {
      series.push_back({.name = transfer.device, .points = {}, .look = static_cast<int>(series.size())});
      found = series.end() - 1;
    }
    const double all = transfer.upload_s + transfer.compute_s + transfer.download_s;
    if (all > 0)
      found->points.push_back({static_cast<double>(found->points.size() + 1), 100 * (1 - transfer.compute_s / all),
                               fmt::format("{}: {}", transfer.problem, format_seconds(all))});
  }
  for (auto& [key, series] : charts) {
    html +=
        figure(fmt::format("{}, {} host memory: share of the time that copies take, from the smallest problem to the "
                           "largest.",
                           key.first, key.second),
               xy_chart(key.first + ", share of copies", "Share of copies over problems from small to large",
                        {.label = "problem, by size", .is_log = false},
                        {.label = "% of the time on the way", .is_log = false}, std::move(series)));
  }
  return html + table.folded("All problems");
}

}  // namespace tessera::tool
