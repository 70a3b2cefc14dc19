// Of each operator and device whose defaults were measured on random problems: how the ratios are distributed, a row
// for each class, and the worst problems.
#include <algorithm>

#include <fmt/format.h>

#include "tools/output/table.h"
#include "tools/report/charts.h"
#include "tools/report/page.h"
#include "tools/report/svg.h"

namespace tessera::tool {

namespace {

/// From the worst to the best: over which share of the problems the ratio is at most so much.
Series distribution(const std::string& name, std::vector<double> ratios, int look) {
  std::sort(ratios.begin(), ratios.end());
  Series series{.name = name, .points = {}, .look = look};
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double share = 100 * static_cast<double>(i + 1) / static_cast<double>(ratios.size());
    series.points.push_back({share, ratios[i], fmt::format("{:.1f} % are at most {:.3f}", share, ratios[i])});
  }
  series.has_marks = ratios.size() == 1;
  return series;
}

std::string chart_of(const RandomGroup& all) {
  const RatioSeries series = series_of(all.problems);
  const std::string name = fmt::format("{} on {}", all.operator_name, all.device);
  std::vector<Series> curves{distribution("over the best of the library's own", series.over_own, 0),
                             distribution("over the best of all", series.over_all, 1),
                             distribution("over the best other library", series.over_vendors, 2)};
  // Where a default as fast as the best lies.
  curves.push_back(
      {.name = "as fast", .points = {{0, 1, ""}, {100, 1, ""}}, .has_marks = false, .is_dashed = true, .look = -1});
  return figure(
      fmt::format("{}: the default's speed beside others on {} random problems, sorted.", name, all.problems.size()),
      xy_chart(name + ", random problems", "Ratio of speeds over the share of problems that have at most it",
               {.label = "problems, %", .is_log = false}, {.label = "default / other"}, std::move(curves)));
}

void add_summary(HtmlTable& table, const std::string& of_class, const char* beside, const std::vector<double>& ratios) {
  const RatioSummary summary = summarise_ratios(ratios);
  if (summary.count == 0) return;
  table.add_row({of_class, beside, fmt::format("{}", summary.count), fmt::format("{:.3f}", summary.geometric_mean),
                 fmt::format("{:.1f} %", 100 * summary.share_from_0_9),
                 fmt::format("{:.1f} %", 100 * summary.share_from_0_75), fmt::format("{:.3f}", summary.least)});
}

void add_summaries(HtmlTable& table, const RandomGroup& group) {
  const RatioSeries series = series_of(group.problems);
  add_summary(table, group.of_class, "the library's own", series.over_own);
  add_summary(table, group.of_class, "all", series.over_all);
  add_summary(table, group.of_class, "other libraries", series.over_vendors);
}

HtmlTable problem_table(const std::vector<ProblemRatios>& problems, bool of_all) {
  HtmlTable table({"class", "problem", "chosen", "# time", "best", "# time", "# ratio"});
  for (const ProblemRatios& problem : problems) {
    const Timed& best = of_all ? problem.best() : problem.best_own;
    table.add_row({problem.of_class, problem.problem, problem.chosen.variant, format_seconds(problem.chosen.seconds),
                   best.variant, format_seconds(best.seconds),
                   fmt::format("{:.3f}", of_all ? problem.over_all() : problem.over_own())});
  }
  return table;
}

std::string part_of(const std::vector<const RandomGroup*>& groups) {
  HtmlTable table(
      {"class", "beside the best of", "# problems", "# geometric mean", "# from 0.9", "# from 0.75", "# least"});
  RandomGroup all{.operator_name = groups.front()->operator_name,
                  .device = groups.front()->device,
                  .of_class = "all",
                  .problems = {}};
  for (const RandomGroup* group : groups) {
    add_summaries(table, *group);
    all.problems.insert(all.problems.end(), group->problems.begin(), group->problems.end());
  }
  if (all.problems.empty()) return "";
  if (groups.size() > 1) add_summaries(table, all);
  std::string html =
      fmt::format("<h3>{} on {}: random problems</h3>\n", escaped(all.operator_name), escaped(all.device)) +
      chart_of(all) + table.render();
  const HtmlTable own = problem_table(worst_of(all.problems, &ProblemRatios::over_own), false);
  const HtmlTable every = problem_table(worst_of(all.problems, &ProblemRatios::over_all), true);
  if (!own.empty()) html += "<h4>The worst over the library's own</h4>\n" + own.render();
  if (!every.empty()) html += "<h4>The worst over all</h4>\n" + every.render();
  return html + problem_table(all.problems, true).folded(fmt::format("All {} problems", all.problems.size()));
}

}  // namespace

std::string random_section(const ReportInput& input) {
  std::string html;
  for (const auto& place : places_of(input.random)) html += part_of(place);
  return html;
}

}  // namespace tessera::tool
