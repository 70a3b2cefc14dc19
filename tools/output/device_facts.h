// The facts about a device as text, and which ids are one card.
#pragma once

#include <string>
#include <vector>

#include <tessera/device.h>

namespace tessera::tool {

/// The ids of the other devices that are the same card: equal UUID or PCI address, where both drivers give it.
[[nodiscard]] std::vector<std::string> same_card_as(const DeviceInfo& info, const std::vector<DeviceInfo>& present);

/// A block of lines: the id and name, then one fact a line. Facts that the driver does not give are left out.
[[nodiscard]] std::string describe(const DeviceInfo& info, const std::vector<DeviceInfo>& present);

}  // namespace tessera::tool
