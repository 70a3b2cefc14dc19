// Answers from values and votes.
#include "tools/classify/judgement.h"

#include <algorithm>
#include <cmath>

namespace tessera::tool {

namespace {

Judgement judged(double value, const double* votes, std::int64_t classes, std::int64_t smallest_label) {
  Judgement judgement;
  judgement.value = value + static_cast<double>(smallest_label);
  if (std::isnan(value)) return judgement;
  const std::int64_t rounded = std::clamp<std::int64_t>(std::llround(value), 0, classes - 1);
  const std::int64_t voted = std::max_element(votes, votes + classes) - votes;
  double sum = 0, second = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    sum += votes[c];
    if (c != voted) second = std::max(second, votes[c]);
  }
  judgement.rounded = rounded + smallest_label;
  judgement.voted = voted + smallest_label;
  judgement.voted_margin = (votes[voted] - second) / sum;
  judgement.rounded_margin = rounded == voted ? judgement.voted_margin : (votes[rounded] - votes[voted]) / sum;
  return judgement;
}

}  // namespace

std::vector<Judgement> judgements_of(const KernelRegression& problem, const RegressionResults& results,
                                     std::int64_t smallest_label, std::int64_t count) {
  std::vector<Judgement> judgements;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    Judgement judgement =
        judged(results.values[i], results.votes.data() + i * static_cast<std::size_t>(problem.classes), problem.classes,
               smallest_label);
    judgement.neighbours = results.neighbours[i];
    judgement.nearest_row = results.nearest_row[i];
    judgement.nearest_distance = problem.scale * std::sqrt(results.nearest_squared[i]);
    judgements.push_back(judgement);
  }
  return judgements;
}

}  // namespace tessera::tool
