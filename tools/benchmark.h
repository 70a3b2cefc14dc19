// One job from verification to speed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/bench_record.h"
#include "tools/measurement.h"
#include "tools/peaks.h"
#include "tools/selection.h"

namespace tessera::tool {

/// Runs jobs one after the other and remembers how fast each variant was, so that a run which could not end within the
/// time limit is not begun.
class Benchmark {
 public:
  explicit Benchmark(MeasurementLimits limits) : limits_(limits) {}

  /// Verifies the job, then measures it. Every tessera::Error becomes a status with its reason; Interrupted passes.
  [[nodiscard]] BenchRecord run(const Job& job, const Peaks& peaks);

 private:
  /// Why a run is expected to take too long; "" if it is not, or if nothing is known of this variant.
  [[nodiscard]] std::string too_long(const Job& job) const;
  void verify_and_measure(const Job& job, const Peaks& peaks, BenchRecord& record);

  MeasurementLimits limits_;
  std::map<std::string, double> operations_per_s_;  ///< by device, operator, variant and type: of the last case
};

}  // namespace tessera::tool
