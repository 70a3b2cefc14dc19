// Opens devices with fewer threads: "cpu:0?threads=4".
#include "tools/thread_devices.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "tools/process/usage_error.h"

namespace tessera::tool {

std::optional<OpenDevice> open_with_threads(const OpenDevice& device, std::uint32_t threads) {
  const std::string name = fmt::format("{}?threads={}", device.info.id, threads);
  try {
    Device narrow = open(name);
    DeviceInfo info = narrow.info();
    return OpenDevice{name, std::move(narrow), std::move(info)};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) return std::nullopt;
    throw;
  }
}

void open_with_threads(OpenDevices& devices, std::vector<std::uint32_t> threads) {
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  std::vector<OpenDevice> list;
  bool any = false;
  for (OpenDevice& device : devices.list) {
    std::vector<OpenDevice> narrow;
    for (const std::uint32_t count : threads) {
      if (std::optional<OpenDevice> opened = open_with_threads(device, count)) narrow.push_back(*std::move(opened));
    }
    any = any || !narrow.empty();
    if (narrow.empty()) narrow.push_back(std::move(device));
    std::move(narrow.begin(), narrow.end(), std::back_inserter(list));
  }
  if (!any)
    throw UsageError(
        "--threads is for devices that can be opened with fewer threads, and none of these can: cpu:0 is one");
  devices.list = std::move(list);
}

}  // namespace tessera::tool
