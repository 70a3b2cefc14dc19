// How a ceiling is timed: launches long enough, the best of many.
#pragma once

#include <cstdint>
#include <functional>

#include <tessera/tessera.h>

#include "tools/peaks/peaks.h"

namespace tessera::tool {

/// Seconds on the device of one call of `enqueue`, the best of several behind a warm-up. Throws Interrupted.
[[nodiscard]] double best_seconds(Queue& queue, const std::function<void()>& enqueue);

/// Seconds of one iteration of a kernel that is told how many to do: `least` of them, or so many more that a launch
/// lasts some milliseconds. Throws Interrupted.
[[nodiscard]] double best_seconds_of_iteration(Queue& queue, std::int32_t least,
                                               const std::function<void(std::int32_t iterations)>& enqueue);

/// Runs `measurement` and keeps its value, or the reason why there is none.
[[nodiscard]] Peak attempt(const std::function<double()>& measurement);

}  // namespace tessera::tool
