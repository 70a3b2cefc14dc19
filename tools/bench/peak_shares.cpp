// Shares of peaks, settled after everything was measured.
#include "tools/bench/peak_shares.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

/// A machine that was busy each time would be measured at every run.
constexpr int kMostMeasurements = 3;

WorkRate rate_of(const BenchRecord& record) {
  const conformance::Case& problem = *record.job.problem;
  // Emptied caches serve nothing.
  const bool is_cold = record.flushed_bytes > 0;
  return {
      .kind = record.job.device->info.kind,
      .type = problem.type(),
      .gflops = record.gflops,
      .gbytes_per_s = record.gbytes_per_s,
      .bytes_in_turn = is_cold ? 1e18 : std::max(problem.work().bytes, 1.0) * static_cast<double>(record.input_sets)};
}

void measure_shares(std::vector<BenchRecord>& records, const OpenDevice* device, const Peaks& peaks) {
  for (BenchRecord& record : records) {
    if (record.job.device == device) record.peak = share_of(record, peaks);
  }
}

/// A peak of the device that a record passes and that may still be too low; "" if there is none.
std::string passed_peak(const std::vector<BenchRecord>& records, const OpenDevice* device, Peaks& peaks) {
  for (const BenchRecord& record : records) {
    if (record.job.device != device || !record.peak || record.peak->share <= 1) continue;
    const Peak* const peak = find_peak(peaks, record.peak->peak);
    if (peak != nullptr && peak->times_measured < kMostMeasurements) return record.peak->peak;
  }
  return {};
}

}  // namespace

std::optional<PeakShare> share_of(const BenchRecord& record, const Peaks& peaks) {
  if (record.status != BenchStatus::verified) return std::nullopt;
  return peak_share(peaks, rate_of(record));
}

void settle_shares(std::vector<BenchRecord>& records, DevicePeaks& peaks, Progress& progress) {
  try {
    for (auto& [device, known] : peaks) {
      for (;;) {
        const std::string passed = passed_peak(records, device, known);
        if (passed.empty()) break;
        stop_if_interrupted();
        progress.show(records.size(), fmt::format("{} of {} again", passed, device->name));
        known = raise_peak(device->device, std::move(known), passed);
        measure_shares(records, device, known);
      }
    }
  } catch (const Interrupted&) {
    // The shares by the peaks so far stand; the caller learns of the interrupt by itself.
  }
  progress.clear();
  for (BenchRecord& record : records) {
    if (!record.peak) continue;
    const std::string remark = remark_on(*record.peak, rate_of(record));
    if (!remark.empty()) record.reason += (record.reason.empty() ? "" : "; ") + remark;
  }
}

}  // namespace tessera::tool
