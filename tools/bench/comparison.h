// Is this run slower than that one was? For the user's own CI.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/bench/old_results.h"

namespace tessera::tool {

/// What both runs spread together, but at least this share, is no change: two runs of one build differ by as much on a
/// machine that is otherwise idle.
inline constexpr double kLeastChange = 0.05;

struct Change {
  const BenchRecord* record = nullptr;
  double old_s = 0;
  double now_s = 0;
  double tolerance = 0;  ///< a share of the old time

  [[nodiscard]] double ratio() const noexcept { return now_s / old_s; }
  [[nodiscard]] bool is_slower() const noexcept { return ratio() > 1 + tolerance; }
  [[nodiscard]] bool is_faster() const noexcept { return ratio() * (1 + tolerance) < 1; }
};

/// The verified records that the old result has too, in their order. They point into `records`.
[[nodiscard]] std::vector<Change> changes_from(const OldResults& old, const std::vector<BenchRecord>& records);

/// A row for each change beyond the tolerance, how many have none, which records the old result lacks, and devices that
/// are others than then.
[[nodiscard]] std::string changes_text(const OldResults& old, const std::vector<BenchRecord>& records);

}  // namespace tessera::tool
