// Shares of the devices' peaks that pass 1: is the peak too low, or was less done than is counted?
#pragma once

#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/output/progress.h"
#include "tools/peaks/device_peaks.h"

namespace tessera::tool {

/// The share of a verified record, and nothing of others.
[[nodiscard]] std::optional<PeakShare> share_of(const BenchRecord& record, const Peaks& peaks);

/// Where a share passes 1, that peak may have been measured while the machine was busy: it is measured again, up to
/// three times in all, the highest is kept, and the shares of the device's records follow. What passes 1 even then is
/// told in the record's reason. After Ctrl-C nothing is measured any more.
void settle_shares(std::vector<BenchRecord>& records, DevicePeaks& peaks, Progress& progress);

}  // namespace tessera::tool
