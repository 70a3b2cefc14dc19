// The default choice beside everything else that was measured of the same problem, and what many such comparisons say
// together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/input/json_reading.h"

namespace tessera::tool {

/// A variant and its time.
struct Timed {
  std::string variant;
  double seconds = 0;
};

/// One problem on one device, whose default variant was verified.
struct ProblemRatios {
  std::string of_class;
  std::size_t number = 0;            ///< in its class
  std::string problem;               ///< as --problem takes it
  std::string case_name;             ///< as records name it
  Timed chosen;                      ///< what the library takes by itself
  Timed best_own;                    ///< the fastest of the library's own, the default among them
  std::optional<Timed> best_vendor;  ///< the fastest other library

  /// 1 where nothing of the library's own is faster.
  [[nodiscard]] double over_own() const { return best_own.seconds / chosen.seconds; }
  /// 1 where nothing at all is faster.
  [[nodiscard]] double over_all() const;
  /// Above 1 where the default is faster than every other library; nothing where none could do it.
  [[nodiscard]] std::optional<double> over_vendors() const;
  /// The fastest of all.
  [[nodiscard]] const Timed& best() const;
};

struct RatioSummary {
  std::size_t count = 0;
  double geometric_mean = 0;
  double share_from_0_9 = 0;  ///< of the ratios, those of 0.9 and more
  double share_from_0_75 = 0;
  double least = 0;
};
/// All 0 for none. Ratios are positive.
[[nodiscard]] RatioSummary summarise_ratios(const std::vector<double>& ratios);

/// The three of each of these problems, as far as they have them.
struct RatioSeries {
  std::vector<double> over_own;
  std::vector<double> over_all;
  std::vector<double> over_vendors;
};
[[nodiscard]] RatioSeries series_of(const std::vector<ProblemRatios>& problems);

[[nodiscard]] Json to_json(const ProblemRatios& problem);
[[nodiscard]] Json to_json(const RatioSummary& summary);

}  // namespace tessera::tool
