// What verify, the benchmark and the transfers say alike about a job and its outcome: the fields with which a record of
// the result file begins, and the last cells of a row.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/problem_set.h"
#include "tools/output/result_file.h"
#include "tools/selection.h"

namespace tessera::tool {

/// Operator, device, backend, variant, case, part (if it has one), type, problem, the tuning that was used, status, and
/// the reason, null if it is "".
[[nodiscard]] Json job_record(const Job& job, const Tuning& tuning, std::string_view status, const std::string& reason);

/// {"worst", "bound", "rms", "rms_of_values"}, or null if nothing was compared. The last two are root mean squares of
/// errors and of right values, null where a result has none.
[[nodiscard]] Json error_record(const std::optional<conformance::Outcome>& outcome);

/// Error over bound; "" if nothing was compared.
[[nodiscard]] std::string error_cell(const std::optional<conformance::Outcome>& outcome);
/// The root mean square of the errors over that of the values; "" if there is none.
[[nodiscard]] std::string rms_cell(const std::optional<conformance::Outcome>& outcome);
/// With a star if the notes below the table give a reason.
[[nodiscard]] std::string status_cell(std::string_view status, const std::string& reason);
/// A table and the notes below it, if there are any.
[[nodiscard]] std::string with_notes(const std::string& table, const std::string& notes);

}  // namespace tessera::tool
