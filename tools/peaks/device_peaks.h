// The peaks of every device that a command opened, and the devices' entries in its result file.
#pragma once

#include <map>
#include <vector>

#include "tools/output/progress.h"
#include "tools/output/result_file.h"
#include "tools/peaks/peaks.h"
#include "tools/selection.h"

namespace tessera::tool {

using DevicePeaks = std::map<const OpenDevice*, Peaks>;

/// Finds or measures the peaks device by device and appends the facts with them to `devices_json`. Throws Interrupted.
[[nodiscard]] DevicePeaks find_device_peaks(const std::vector<OpenDevice>& devices, bool measure_again,
                                            Progress& progress, Json& devices_json);

/// The same facts without peaks: each says `because`.
[[nodiscard]] DevicePeaks no_device_peaks(const std::vector<OpenDevice>& devices, const std::string& because,
                                          Json& devices_json);

}  // namespace tessera::tool
