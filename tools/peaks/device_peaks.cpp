// Peaks of the opened devices.
#include "tools/peaks/device_peaks.h"

#include <utility>

#include <fmt/format.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

void append(const OpenDevice& device, const Peaks& peaks, Json& devices_json) {
  Json entry = to_json(device.info);
  entry["asked_as"] = device.name;
  entry["peaks"] = to_json(peaks);
  devices_json.push_back(std::move(entry));
}

}  // namespace

DevicePeaks find_device_peaks(const std::vector<OpenDevice>& devices, bool measure_again, Progress& progress,
                              Json& devices_json) {
  DevicePeaks peaks;
  for (const OpenDevice& device : devices) {
    stop_if_interrupted();
    progress.show(0, fmt::format("peaks of {}", device.name));
    append(device, peaks[&device] = find_peaks(device.device, measure_again), devices_json);
  }
  return peaks;
}

DevicePeaks no_device_peaks(const std::vector<OpenDevice>& devices, const std::string& because, Json& devices_json) {
  const Peak unknown{.value = std::nullopt, .reason = because};
  DevicePeaks peaks;
  for (const OpenDevice& device : devices) append(device, peaks[&device] = {unknown, unknown, unknown}, devices_json);
  return peaks;
}

}  // namespace tessera::tool
