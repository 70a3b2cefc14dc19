// What the values of a tunable make of the speed of the variants that have it, with the other variants beside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/bench_record.h"
#include "tools/result_file.h"
#include "tools/variant_scores.h"

namespace tessera::tool {

/// One variant on one device and one of the cases on which other tuning values are tried.
struct TunableRow {
  const BenchRecord* preferred = nullptr;    ///< with what is used when nothing is said
  std::vector<std::string> tunables;         ///< one, or a pair; none if the variant has none of those asked for
  std::vector<const BenchRecord*> by_value;  ///< ascending, the preferred one among them
};

/// Rows of the cases with Case::tries_every_tuning(), from records of one part of a study. Of tunables that are paired, to name one
/// is enough.
[[nodiscard]] std::vector<TunableRow> tunable_rows(const BenchRecords& records,
                                                   const std::vector<std::string_view>& tunables);

[[nodiscard]] Json to_json(const std::vector<TunableRow>& rows, CaseLabel label);
/// A column for each value, and one for variants without the tunable. "" if there are no rows.
[[nodiscard]] std::string tunable_text(const std::vector<TunableRow>& rows, CaseLabel label);

}  // namespace tessera::tool
