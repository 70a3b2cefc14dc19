// Which tunings of a variant are tried, by tests and by the tool.
#pragma once

#include <vector>

#include <tessera/kernel.h>

namespace tessera::conformance {

/// Every value of every tunable, the others left as preferred. Values that exist in pairs alone come as pairs.
[[nodiscard]] std::vector<Tuning> each_value(const std::vector<Tunable>& tunables);

/// All combinations that exist, or each_value() if there are more than `most`. None without tunables.
[[nodiscard]] std::vector<Tuning> all_combinations(const std::vector<Tunable>& tunables, std::size_t most);

}  // namespace tessera::conformance
