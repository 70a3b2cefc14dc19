// Is this run slower than that one was? For the user's own CI.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/bench/old_results.h"

namespace tessera::tool {

/// What both runs spread together, but at least this share, is no change: two runs of one build differ by as much on a
/// machine that is otherwise idle.
inline constexpr double kLeastChange = 0.05;

/// By how much longer a run may take, as a share of its time, where others took so much of the processors.
[[nodiscard]] inline double slowed_by(double others_share) noexcept {
  return others_share / std::max(1e-3, 1 - others_share);
}

/// Two times, each with its run's spread and what others took meanwhile. Slower is beyond the tolerance, not of itself.
struct TimeChange {
  TimeChange(const OldTime& old, const OldTime& now)
      : old_s(old.median_s),
        now_s(now.median_s),
        others_share(std::max(old.others_share, now.others_share)),
        tolerance(std::max(kLeastChange,
                           old.spread + now.spread + slowed_by(old.others_share) + slowed_by(now.others_share))) {}

  double old_s;
  double now_s;
  double others_share;  ///< the larger of both runs'
  double tolerance;     ///< a share of the old time

  [[nodiscard]] double ratio() const noexcept { return now_s / old_s; }
  [[nodiscard]] bool is_slower() const noexcept { return ratio() > 1 + tolerance; }
  [[nodiscard]] bool is_faster() const noexcept { return ratio() * (1 + tolerance) < 1; }
};
struct Change : TimeChange {
  const BenchRecord* record = nullptr;
};

/// The verified records that the old result has too, in their order. They point into `records`.
[[nodiscard]] std::vector<Change> changes_from(const OldResults& old, const std::vector<BenchRecord>& records);

/// A row for each change beyond the tolerance, how many have none, which records the old result lacks, and devices that
/// are others than then.
[[nodiscard]] std::string changes_text(const OldResults& old, const std::vector<BenchRecord>& records);

}  // namespace tessera::tool
