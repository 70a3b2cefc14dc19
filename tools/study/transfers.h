// The way to a device and back: what the copies of operands cost beside the run itself, and from which size on a device
// with memory of its own is worth them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/bench/measurement.h"
#include "tools/bench/settle.h"
#include "tools/bench/speed_history.h"
#include "tools/output/result_file.h"
#include "tools/selection.h"
#include "tools/study/variant_scores.h"

namespace tessera::tool {

/// One case on one device, its operands in one kind of host memory. Each of the four is measured on its own.
struct TransferRecord {
  Job job;
  conformance::HostMemory memory = conformance::HostMemory::ordinary;
  BenchStatus status = BenchStatus::failed;
  std::string reason;
  std::optional<conformance::Outcome> outcome;
  Tuning tuning;
  std::size_t upload_bytes = 0;
  std::size_t download_bytes = 0;
  Measurement upload;
  Measurement compute;
  Measurement download;
  Measurement whole;  ///< upload, run and download in one go
};

/// Measures one job after the other, and remembers how fast a device was, so that a run which could not end within the
/// time limit is not begun: see SpeedHistory.
class TransferBench {
 public:
  explicit TransferBench(MeasurementLimits limits) : limits_(limits) {}

  /// From ordinary memory, and from pinned memory where that is another thing. Verified before and after. Throws
  /// Interrupted.
  [[nodiscard]] std::vector<TransferRecord> run(const Job& job);

 private:
  void measure_one(TransferRecord& record);
  void time_parts(conformance::RoundTrip& trip, Queue& queue, TransferRecord& record) const;

  MeasurementLimits limits_;
  Rest rest_;
  SpeedHistory history_;  ///< by device and operator
};

/// From which case on, of those measured, a device with its transfers beats a CPU without any.
struct BreakEven {
  const OpenDevice* device = nullptr;
  conformance::HostMemory memory = conformance::HostMemory::ordinary;
  const OpenDevice* rival = nullptr;             ///< a CPU: its operands are where it computes
  const conformance::Case* wins_from = nullptr;  ///< it and all larger ones are won; nullptr: the largest is lost
  const conformance::Case* loses_at = nullptr;   ///< the largest that is lost; nullptr: none is
};

/// Every device that is no CPU against every one that is. Cases must ascend within a device.
[[nodiscard]] std::vector<BreakEven> find_break_even(const std::vector<TransferRecord>& records);

[[nodiscard]] Json to_json(const TransferRecord& record, CaseLabel label);
[[nodiscard]] Json to_json(const BreakEven& result, CaseLabel label);
[[nodiscard]] std::string transfers_text(const std::vector<TransferRecord>& records, CaseLabel label);
[[nodiscard]] std::string break_even_text(const std::vector<BreakEven>& results, CaseLabel label);

}  // namespace tessera::tool
