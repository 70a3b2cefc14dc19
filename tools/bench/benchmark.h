// One job from verification to speed.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/bench/cache_flush.h"
#include "tools/bench/measurement.h"
#include "tools/bench/operand_sets.h"
#include "tools/bench/settle.h"
#include "tools/bench/speed_history.h"
#include "tools/peaks/peaks.h"
#include "tools/selection.h"

namespace tessera::tool {

/// Runs jobs one after the other, jobs of one case and device on the same operands. Remembers how fast each variant
/// was, so that a run which could not end within the time limit is not begun: see SpeedHistory. Before each measurement
/// the threads of the last one come to rest.
class Benchmark {
 public:
  explicit Benchmark(MeasurementLimits limits) : limits_(limits) {}

  /// Verifies the job, then measures it. Every tessera::Error becomes a status with its reason; Interrupted passes.
  [[nodiscard]] BenchRecord run(const Job& job, const Peaks& peaks);
  /// The same with other limits.
  [[nodiscard]] BenchRecord run(const Job& job, const Peaks& peaks, const MeasurementLimits& limits);
  /// Gives the operands of the last job back.
  void forget_operands() { sets_.forget(); }

 private:
  /// Why a run is expected to take too long; "" if it is not, or if nothing is known of this variant.
  [[nodiscard]] std::string too_long(const Job& job, const MeasurementLimits& limits) const;
  /// What empties the caches of the job's device, made where it is asked for first; null if caches stay warm.
  [[nodiscard]] const CacheFlush* flush_for(const Job& job, const MeasurementLimits& limits);
  /// Compares a run's result with the oracle, or with that of the same variant on the same operands that was. Returns
  /// its bits.
  [[nodiscard]] std::vector<std::byte> verify(const Job& job, conformance::Run& run, Queue& queue, BenchRecord& record);
  void verify_and_measure(const Job& job, const Peaks& peaks, const MeasurementLimits& limits, BenchRecord& record);
  /// Behind the verified run: repetitions, or a single one of what is slow.
  [[nodiscard]] Measurement measure_again(const Job& job, const Measurement& verified, Queue& queue,
                                          MeasurementLimits limits, BenchRecord& record);

  /// What was compared with the oracle.
  struct Verified {
    std::vector<std::byte> bits;
    conformance::Outcome outcome;
  };

  MeasurementLimits limits_;
  OperandSets sets_;
  std::map<std::pair<std::string, Tuning>, Verified> verified_;  ///< of the operands that are there
  Rest rest_;
  SpeedHistory history_;
  std::map<const OpenDevice*, std::unique_ptr<CacheFlush>> flushes_;
};

}  // namespace tessera::tool
