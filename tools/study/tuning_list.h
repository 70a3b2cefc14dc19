// The records of a list of tunings, one by one: what each made of the speed.
#pragma once

#include <string>

#include "tools/bench/bench_record.h"
#include "tools/output/result_file.h"
#include "tools/study/variant_scores.h"

namespace tessera::tool {

/// For each record device, variant, case, the tuning that was asked for, and its speed: null where it has none.
[[nodiscard]] Json tuning_list_json(const BenchRecords& records, CaseLabel label);
/// The same as a table. "" if there are no records.
[[nodiscard]] std::string tuning_list_text(const BenchRecords& records, CaseLabel label);

}  // namespace tessera::tool
