// The steps of a scenario that every backend goes through.
#pragma once

#include <vector>

#include "fault/scenario.h"

namespace tessera::fault {

/// In the order in which they run.
[[nodiscard]] std::vector<ScenarioStep> shared_steps(const ScenarioOptions& options);

/// A training set of bytes that passes a limit of memory.
[[nodiscard]] bool stream_slabs(ScenarioBench& bench);

}  // namespace tessera::fault
