// What `tessera verify` does with problem sets, apart from its command line: tests give it sets of their own.
#pragma once

#include <iosfwd>
#include <vector>

#include "conformance/problem_set.h"
#include "tools/selection.h"
#include "tools/verify/verification.h"

namespace tessera::tool {

/// Runs the jobs, prints the tables to `text` and appends the records. Stops early, with the summary of what was done,
/// at Ctrl-C.
[[nodiscard]] VerifyCounts verify_jobs(const std::vector<Job>& jobs, std::ostream& text, Json& records);

}  // namespace tessera::tool
