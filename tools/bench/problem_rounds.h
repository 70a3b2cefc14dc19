// One problem on one device: its variants measured in turn, so that what drifts on the machine meets all alike.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/bench/measuring_process.h"
#include "tools/bench/ratios.h"
#include "tools/selection.h"

namespace tessera::tool {

struct ProblemResult {
  std::vector<Json> records;            ///< of each job that can run, the middle of its rounds
  std::optional<ProblemRatios> ratios;  ///< nothing if the default was not verified
  bool failed = false;                  ///< was a result wrong, or did something break?
};

/// The default first, then the others, briefly those far behind. Rounds behind the first measure the default and what
/// came near the best of its kind, because nothing else can be the best. Throws Interrupted. A wrong result is recorded
/// and has no time.
[[nodiscard]] ProblemResult measure_problem(const std::vector<Job>& jobs, Measurer& measurer, std::size_t rounds);

/// By how much slower than the best of its kind (the library's own, other libraries) still counts as near.
inline constexpr double kNearTheBest = 1.3;

}  // namespace tessera::tool
