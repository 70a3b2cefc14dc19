// What a row of repeated measurements says.
#pragma once

#include <cstddef>
#include <vector>

namespace tessera::tool {

struct Statistics {
  double median = 0;
  double min = 0;
  double max = 0;
  /// Interquartile range over the median: 0.02 means that half of the samples lie within 2 % of each other. One sample
  /// that was disturbed does not move it; min and max show that one.
  double spread = 0;
  std::size_t count = 0;
};

/// All 0 for no samples.
[[nodiscard]] Statistics summarise(std::vector<double> samples);

}  // namespace tessera::tool
