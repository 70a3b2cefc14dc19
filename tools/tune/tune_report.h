// What `tessera tune` says: tables for a person, records for a file.
#pragma once

#include <string>
#include <vector>

#include "tools/tune/tuner.h"

namespace tessera::tool {

/// A row for each problem on each device, and below it what was wrong or failed, and why nothing was decided.
[[nodiscard]] std::string tune_table(const std::vector<TuneOutcome>& outcomes);

/// The record of a result file, with every candidate that was tried.
[[nodiscard]] Json to_json(const TuneOutcome& outcome);

/// "60", "60s", "5min", "1h" as seconds. UsageError for anything else, for no time at all, and for
/// more than 1000 hours.
[[nodiscard]] double parse_budget(const std::string& text);

}  // namespace tessera::tool
