// What a kernel regression finds out about images, and the answers that follow from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::tool {

/// What is found out about an image.
struct Judgement {
  double value = 0;                          ///< the regression's; NaN if no training image is near at all
  std::optional<std::int64_t> rounded = {};  ///< the value as a whole number, halves up: the study's answer
  std::optional<std::int64_t> voted = {};    ///< the label with the most weight, the smaller of two that are equal
  /// The answer's share of all weight less the largest share of another label: 1 is certain, 0 undecided, and below 0
  /// the rounding says what the weight does not. -1 without an answer.
  double rounded_margin = -1;
  double voted_margin = -1;
  double neighbours = 0;  ///< how many training images count, (sum of w)^2 / sum of w^2
  std::int64_t nearest_row = -1;
  double nearest_distance = 0;  ///< Euclidean, scaled
};

/// The regression's results, image after image.
struct RegressionResults {
  std::vector<double> values;
  std::vector<double> votes;  ///< problem.classes for each
  std::vector<double> nearest_squared;
  std::vector<double> neighbours;
  std::vector<std::int64_t> nearest_row;
};

/// Of the first `count` images. Targets were labels less `smallest_label`.
[[nodiscard]] std::vector<Judgement> judgements_of(const KernelRegression& problem, const RegressionResults& results,
                                                   std::int64_t smallest_label, std::int64_t count);

}  // namespace tessera::tool
