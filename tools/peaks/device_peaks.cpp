// Peaks of the opened devices.
#include "tools/peaks/device_peaks.h"

#include <utility>

#include <fmt/format.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

void find_device_peaks(const std::vector<OpenDevice>& devices, bool measure_again, Progress& progress,
                       DevicePeaks& peaks) {
  for (const OpenDevice& device : devices) {
    stop_if_interrupted();
    progress.show(0, fmt::format("peaks of {}", device.name));
    peaks[&device] = find_peaks(device.device, measure_again);
  }
}

DevicePeaks no_device_peaks(const std::vector<OpenDevice>& devices, const std::string& because) {
  DevicePeaks peaks;
  for (const OpenDevice& device : devices) peaks[&device] = unknown_peaks(because);
  return peaks;
}

Json devices_record(const std::vector<OpenDevice>& devices, const DevicePeaks& peaks) {
  Json list = Json::array();
  for (const OpenDevice& device : devices) {
    const auto found = peaks.find(&device);
    if (found == peaks.end()) continue;
    Json entry = to_json(device.info);
    entry["asked_as"] = device.name;
    entry["peaks"] = to_json(found->second);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace tessera::tool
