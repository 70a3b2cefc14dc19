// Ratios and their summaries.
#include "tools/bench/ratios.h"

#include <algorithm>
#include <cmath>

namespace tessera::tool {

namespace {

constexpr double kNearlyAsFast = 0.9;
constexpr double kMuchSlower = 0.75;

Json to_json(const Timed& timed) {
  return {{"variant", timed.variant}, {"seconds", timed.seconds}};
}

}  // namespace

const Timed& ProblemRatios::best() const {
  return best_vendor && best_vendor->seconds < best_own.seconds ? *best_vendor : best_own;
}

double ProblemRatios::over_all() const {
  return best().seconds / chosen.seconds;
}

std::optional<double> ProblemRatios::over_vendors() const {
  if (!best_vendor) return std::nullopt;
  return best_vendor->seconds / chosen.seconds;
}

RatioSummary summarise_ratios(const std::vector<double>& ratios) {
  if (ratios.empty()) return {};
  const auto count = static_cast<double>(ratios.size());
  const auto share_from = [&](double least) {
    return static_cast<double>(
               std::count_if(ratios.begin(), ratios.end(), [&](double ratio) { return ratio >= least; })) /
           count;
  };
  double logarithms = 0;
  for (const double ratio : ratios) logarithms += std::log(ratio);
  return {.count = ratios.size(),
          .geometric_mean = std::exp(logarithms / count),
          .share_from_0_9 = share_from(kNearlyAsFast),
          .share_from_0_75 = share_from(kMuchSlower),
          .least = *std::min_element(ratios.begin(), ratios.end())};
}

RatioSeries series_of(const std::vector<ProblemRatios>& problems) {
  RatioSeries series;
  for (const ProblemRatios& problem : problems) {
    series.over_own.push_back(problem.over_own());
    series.over_all.push_back(problem.over_all());
    if (const auto ratio = problem.over_vendors()) series.over_vendors.push_back(*ratio);
  }
  return series;
}

Json to_json(const ProblemRatios& problem) {
  const auto over_vendors = problem.over_vendors();
  return {{"number", problem.number},
          {"problem", problem.problem},
          {"case", problem.case_name},
          {"default", to_json(problem.chosen)},
          {"best_own", to_json(problem.best_own)},
          {"best_vendor", problem.best_vendor ? to_json(*problem.best_vendor) : Json()},
          {"over_own", problem.over_own()},
          {"over_all", problem.over_all()},
          {"over_vendors", over_vendors ? Json(*over_vendors) : Json()}};
}

Json to_json(const RatioSummary& summary) {
  return {{"count", summary.count},
          {"geometric_mean", summary.geometric_mean},
          {"share_from_0_9", summary.share_from_0_9},
          {"share_from_0_75", summary.share_from_0_75},
          {"least", summary.least}};
}

}  // namespace tessera::tool
