// The short table of a comparison of everything: of each case and device what the library takes by itself, beside the
// fastest other library and beside the other devices.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/bench_record.h"

namespace tessera::tool {

/// "" if nothing was verified. Below it what failed, was left out or is remarkable, with the reason.
[[nodiscard]] std::string summary_table(const std::vector<BenchRecord>& records);

}  // namespace tessera::tool
