// Rows and columns.
#include "tools/bench/random_tables.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

/// "0.97  92 %  98 %  0.61"; a dash for no ratio at all.
void add_cells(const std::vector<double>& ratios, std::vector<std::string>& cells) {
  const RatioSummary summary = summarise_ratios(ratios);
  if (summary.count == 0) {
    cells.insert(cells.end(), 4, "-");
    return;
  }
  cells.push_back(fmt::format("{:.3f}", summary.geometric_mean));
  cells.push_back(fmt::format("{:.0f} %", 100 * summary.share_from_0_9));
  cells.push_back(fmt::format("{:.0f} %", 100 * summary.share_from_0_75));
  cells.push_back(fmt::format("{:.2f}", summary.least));
}

std::vector<std::string> row_of(const std::string& name, const std::vector<ProblemRatios>& problems) {
  std::vector<std::string> cells{name, fmt::format("{}", problems.size())};
  const RatioSeries series = series_of(problems);
  add_cells(series.over_own, cells);
  add_cells(series.over_all, cells);
  add_cells(series.over_vendors, cells);
  return cells;
}

/// "" where nothing was faster than the default.
std::string worst_table(const std::string& title, const std::vector<ProblemRatios>& problems,
                        double (ProblemRatios::*ratio)() const, bool of_all) {
  Table table({{"ratio", Align::right},
               {"class"},
               {"chosen"},
               {"time", Align::right},
               {"best"},
               {"time", Align::right},
               {"problem"}});
  for (const ProblemRatios& problem : worst_of(problems, ratio)) {
    const Timed& best = of_all ? problem.best() : problem.best_own;
    table.add_row({fmt::format("{:.2f}", (problem.*ratio)()), problem.of_class, problem.chosen.variant,
                   format_seconds(problem.chosen.seconds), best.variant, format_seconds(best.seconds),
                   problem.problem});
  }
  return table.empty() ? "" : fmt::format("\n{}\n{}", title, table.render());
}

/// All classes of one operator on one device.
std::string tables_of(const std::vector<const RandomGroup*>& groups) {
  std::vector<Table::Column> columns{{"class"}, {"problems", Align::right}};
  for (const char* first : {"own: mean", "all: mean", "vendors: mean"}) {
    columns.push_back({first, Align::right});
    for (const char* name : {">= 0.9", ">= 0.75", "least"}) columns.push_back({name, Align::right});
  }
  Table table(columns);
  std::vector<ProblemRatios> problems;
  for (const RandomGroup* group : groups) {
    table.add_row(row_of(group->of_class, group->problems));
    problems.insert(problems.end(), group->problems.begin(), group->problems.end());
  }
  if (problems.empty()) return "";
  if (groups.size() > 1) table.add_row(row_of("all", problems));
  const std::string name = fmt::format("{} on {}", groups.front()->operator_name, groups.front()->device);
  const bool has_vendors = std::any_of(problems.begin(), problems.end(),
                                       [](const ProblemRatios& problem) { return problem.best_vendor.has_value(); });
  return fmt::format(
             "{}: the default's speed over the best of the library's own, over the best of all, and over the best "
             "other library\n{}",
             name, table.render()) +
         worst_table(name + ", worst over the library's own", problems, &ProblemRatios::over_own, false) +
         (has_vendors ? worst_table(name + ", worst over all", problems, &ProblemRatios::over_all, true) : "") + "\n";
}

}  // namespace

std::vector<ProblemRatios> worst_of(std::vector<ProblemRatios> problems, double (ProblemRatios::*ratio)() const) {
  std::erase_if(problems, [&](const ProblemRatios& problem) { return !((problem.*ratio)() < 1); });
  std::stable_sort(problems.begin(), problems.end(), [&](const ProblemRatios& left, const ProblemRatios& right) {
    return (left.*ratio)() < (right.*ratio)();
  });
  if (problems.size() > kWorst) problems.resize(kWorst);
  return problems;
}

std::vector<std::vector<const RandomGroup*>> places_of(const std::vector<RandomGroup>& groups) {
  std::vector<std::vector<const RandomGroup*>> places;
  for (const RandomGroup& group : groups) {
    const auto same = std::find_if(places.begin(), places.end(), [&](const auto& place) {
      return place.front()->operator_name == group.operator_name && place.front()->device == group.device;
    });
    (same == places.end() ? places.emplace_back() : *same).push_back(&group);
  }
  return places;
}

std::string random_tables(const std::vector<RandomGroup>& groups) {
  std::string text;
  for (const auto& place : places_of(groups)) text += tables_of(place);
  return text;
}

Json to_json(const RandomGroup& group, std::uint64_t seed, const ProblemLimits& limits) {
  const RatioSeries series = series_of(group.problems);
  Json json{{"operator", group.operator_name},
            {"device", group.device},
            {"class", group.of_class},
            {"seed", seed},
            {"asked", group.asked},
            {"without_default", group.without_default},
            {"most_flops", limits.most_flops},
            {"over_own", to_json(summarise_ratios(series.over_own))},
            {"over_all", to_json(summarise_ratios(series.over_all))},
            {"over_vendors", to_json(summarise_ratios(series.over_vendors))},
            {"problems", Json::array()}};
  for (const ProblemRatios& problem : group.problems) json["problems"].push_back(to_json(problem));
  return json;
}

}  // namespace tessera::tool
