// Median and quartiles by linear interpolation between the sorted samples.
#include "tools/bench/statistics.h"

#include <algorithm>

namespace tessera::tool {

namespace {

double quantile(const std::vector<double>& sorted, double part) {
  const double position = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

}  // namespace

Statistics summarise(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  Statistics result;
  result.median = quantile(samples, 0.5);
  result.min = samples.front();
  result.max = samples.back();
  result.count = samples.size();
  if (result.median > 0) result.spread = (quantile(samples, 0.75) - quantile(samples, 0.25)) / result.median;
  return result;
}

}  // namespace tessera::tool
