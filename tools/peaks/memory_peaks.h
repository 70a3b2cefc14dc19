// The ceilings of a device's memory and caches.
#pragma once

#include <string_view>
#include <vector>

#include "tools/peaks/peaks.h"

namespace tessera::tool {

/// The better of the queue's own copy and a kernel's, in 10^9 bytes a second, read and written.
[[nodiscard]] Peak copy_peak(const Device& device, const DeviceInfo& info);

/// Of each cache level that a kernel after another still finds filled, and of memory last. A GPU's first level is none:
/// it is empty when a kernel begins.
/// `only`: the level of this name alone; "" for all.
[[nodiscard]] std::vector<ReadPeak> read_peaks(const Device& device, const DeviceInfo& info,
                                               std::string_view only = "");

}  // namespace tessera::tool
