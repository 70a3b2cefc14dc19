// Devices that can be opened with fewer threads than they have.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/selection.h"

namespace tessera::tool {

/// The device with so many threads; nothing if it has no such option.
[[nodiscard]] std::optional<OpenDevice> open_with_threads(const OpenDevice& device, std::uint32_t threads);

/// In the place of each device that has the option: that device with each of these numbers of threads, ascending.
/// UsageError if none has.
void open_with_threads(OpenDevices& devices, std::vector<std::uint32_t> threads);

}  // namespace tessera::tool
