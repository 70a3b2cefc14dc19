// What the number of threads makes of the speed of a variant, on devices that can be opened with fewer of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/output/result_file.h"
#include "tools/study/variant_scores.h"

namespace tessera::tool {

/// One variant on one device and case, with more than one number of threads.
struct ThreadRow {
  std::string device;                                     ///< without its options: "cpu:0"
  std::map<std::int64_t, const BenchRecord*> by_threads;  ///< verified ones, preferred tuning

  [[nodiscard]] const BenchRecord& first() const { return *by_threads.begin()->second; }
  /// The time with the fewest threads over the time with `threads`: 1 for the fewest. The fewest are one thread, unless
  /// that was not measured.
  [[nodiscard]] double speed_up(std::int64_t threads) const;
  /// The speed-up over how many times as many threads: 1 where each of them does as much as the fewest did.
  [[nodiscard]] double efficiency(std::int64_t threads) const;
};

/// Rows from the records of one study, in their order; a device's number of threads is its DeviceInfo::compute_units.
[[nodiscard]] std::vector<ThreadRow> thread_rows(const BenchRecords& records);

[[nodiscard]] Json to_json(const std::vector<ThreadRow>& rows, CaseLabel label);
/// A column for each number of threads. "" if there are no rows.
[[nodiscard]] std::string thread_text(const std::vector<ThreadRow>& rows, CaseLabel label);

}  // namespace tessera::tool
