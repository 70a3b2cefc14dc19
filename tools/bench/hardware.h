// What the hardware did for a record: a processor's instruction set and threads, and what a GPU's driver says of the
// kernel functions that were launched.
#pragma once

#include <string>
#include <vector>

#include <tessera/device.h>
#include <tessera/launch_facts.h>

#include "tools/input/json_reading.h"

namespace tessera::tool {

/// {"instruction_set", "threads", "launches"}: what is not known is null. Threads are told of processors alone.
[[nodiscard]] Json hardware_record(const DeviceInfo& info, const std::vector<LaunchFacts>& launches);

/// The same of a record that was read, in a few words: "128 registers, 16 B spilled, 48 KiB local, 2 groups a unit,
/// 50 % occupied" of its launch with the most work-items, "2 threads, AVX-512" of a processor; "" where nothing is
/// known.
[[nodiscard]] std::string hardware_words(const Json& hardware);

}  // namespace tessera::tool
