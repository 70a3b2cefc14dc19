// Contenders measured by turns: what a machine does meanwhile meets all of them alike.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/bench/operand_sets.h"
#include "tools/bench/statistics.h"
#include "tools/selection.h"
#include "tools/tune/candidate.h"

namespace tessera::tool {

/// Fewer rounds decide nothing.
inline constexpr std::size_t kFewestRounds = 5;
inline constexpr std::size_t kMostRounds = 15;
/// A gain of less is not worth a kernel that nobody else runs.
inline constexpr double kLeastGain = 0.02;

/// One of them, with the time that a trial found.
struct Contender {
  Candidate candidate;
  double expected_s = 0;
  std::vector<double> seconds = {};  ///< of one run, round by round
};

/// Runs everybody once a round, every other round backwards, each with the other threads of this process at rest. Ends
/// after kMostRounds, or when the next round would end behind `time_s` and kFewestRounds are done. Errors of the
/// library pass. Does not look for Ctrl-C: what was found is worth these seconds.
void duel(const Job& place, std::vector<Contender>& contenders, double time_s);

/// What so many rounds will take, kernels made anew each time included, roughly.
[[nodiscard]] double duel_seconds(const std::vector<Contender>& contenders, std::size_t rounds);

/// The second over the first, round by round.
[[nodiscard]] Statistics ratios(const std::vector<double>& first, const std::vector<double>& second);

/// Is the second faster than the first beyond the spread: is the median of the ratios below 1 by more than their
/// interquartile range, and by kLeastGain?
[[nodiscard]] bool is_faster(const Statistics& ratios);

}  // namespace tessera::tool
