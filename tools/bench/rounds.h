// One record from several measurements of the same job.
#pragma once

#include <vector>

#include "tools/bench/bench_record.h"

namespace tessera::tool {

/// The round whose speed lies in the middle (of an even number the slower of the two), with the medians of all rounds
/// in the order in which they were taken. A round that was not verified is returned before any other, because a failure
/// must not be hidden. There is one round at least.
[[nodiscard]] BenchRecord middle_of(std::vector<BenchRecord> rounds);

}  // namespace tessera::tool
