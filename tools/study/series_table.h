// Times of variants over the sizes of a series: what a study asks of one number of the problem after the other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/study/variant_scores.h"

namespace tessera::tool {

/// How many of what a rate counts (queries, references) a case has.
using CountOf = double (*)(const conformance::Case& problem);

/// A row for each device, variant and case that was measured: its time, and how many of `things` a second. "" if there
/// are none.
[[nodiscard]] std::string series_text(const BenchRecords& records, CaseLabel label, std::string_view things,
                                      CountOf count);

/// Moves `more` behind `all`.
void append(BenchRecords& all, BenchRecords more);

}  // namespace tessera::tool
