// What `tessera bench` does without --study: plans, measures, compares, and fills in the result.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/job_runner.h"
#include "tools/bench/old_results.h"
#include "tools/output/result_file.h"
#include "tools/selection.h"

namespace tessera::tool {

struct BenchRequest {
  Selection selection;
  RunPlan plan;
  bool everything = false;  ///< the best variants and peers of every case, in rounds from small to large; a short table
  std::optional<double> most_flops;          ///< larger cases are left out, but for each operator's smallest
  std::vector<std::uint32_t> thread_counts;  ///< CPU devices with each of them; empty: as they are
  bool transfers = false;                    ///< the way to the device and back too
  bool measure_peaks_again = false;
  std::optional<OldResults> old;  ///< to be compared with
};

/// Prints its tables to `text` and returns the exit code. After Ctrl-C with what is measured so far. UsageError as
/// plan_jobs().
[[nodiscard]] int run_bench(const BenchRequest& request, std::ostream& text, Json& result);

}  // namespace tessera::tool
