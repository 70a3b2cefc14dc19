// Result files: the JSON forms of what every command reports, the head that they share, and writing them in one piece.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <tessera/tessera.h>

#include "conformance/problem_set.h"
#include "tools/bench/statistics.h"
#include "tools/input/json_reading.h"
#include "tools/output/machine.h"
#include "tools/output/output_file.h"

namespace tessera::tool {

[[nodiscard]] Json to_json(const Machine& machine);
[[nodiscard]] Json to_json(const DeviceInfo& info);
[[nodiscard]] Json to_json(const BackendInfo& info);
[[nodiscard]] Json to_json(const Statistics& statistics);
[[nodiscard]] Json to_json(const Tuning& tuning);
[[nodiscard]] Json to_json(const std::vector<conformance::Field>& problem);

/// What every result file opens with: tool, format, date, library, machine, backends; devices and records are still
/// empty lists.
[[nodiscard]] Json result_head(const std::string& tool);

/// Where a result goes: a file, "-" for standard output, or "" for nowhere.
class ResultFile {
 public:
  /// Opens the destination at once, so that one that cannot be written is known before long work starts: see
  /// OutputFile. Error invalid_argument if that fails.
  explicit ResultFile(std::string where);

  /// Writes all of it, or leaves the destination as it was and throws. Once.
  void write(const Json& result);
  /// Where people's text goes: standard output, but standard error when that carries the JSON.
  [[nodiscard]] std::ostream& text() const;

 private:
  std::string where_;
  std::optional<OutputFile> file_;
};

}  // namespace tessera::tool
