// The peaks of every device that a command opened, and the devices' entries in its result file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/output/progress.h"
#include "tools/output/result_file.h"
#include "tools/peaks/peaks.h"
#include "tools/selection.h"

namespace tessera::tool {

using DevicePeaks = std::map<const OpenDevice*, Peaks>;

/// Finds or measures the peaks device by device. Throws Interrupted; `peaks` then holds those that were found.
void find_device_peaks(const std::vector<OpenDevice>& devices, bool measure_again, Progress& progress,
                       DevicePeaks& peaks);

/// Peaks that are unknown: each says `because`.
[[nodiscard]] DevicePeaks no_device_peaks(const std::vector<OpenDevice>& devices, const std::string& because);

/// The facts of the devices with their peaks, of those that `peaks` holds.
[[nodiscard]] Json devices_record(const std::vector<OpenDevice>& devices, const DevicePeaks& peaks);

}  // namespace tessera::tool
