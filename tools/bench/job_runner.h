// Measures a list of jobs under a progress bar, in rounds where that is asked for, within a budget where there is one.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/bench/benchmark.h"
#include "tools/output/progress.h"
#include "tools/peaks/device_peaks.h"
#include "tools/selection.h"

namespace tessera::tool {

struct RunPlan {
  MeasurementLimits limits;
  std::size_t rounds = 1;  ///< how often each job is measured: the jobs of a case in turn, and the middle round counts
  double budget_s = 0;     ///< what does not fit into so many seconds is skipped; 0: no budget
};

/// The records of the jobs, in their order; those of one case stand together in `jobs`. Ctrl-C ends it early with what
/// is measured: is_interrupted() tells.
[[nodiscard]] std::vector<BenchRecord> run_jobs(const std::vector<Job>& jobs, const DevicePeaks& peaks,
                                                const RunPlan& plan, Progress& progress);

}  // namespace tessera::tool
