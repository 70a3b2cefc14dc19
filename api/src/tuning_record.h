// One line of the file of tuned values: what it is about, and what was found.
#pragma once

#include <tessera/tuning.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tessera::detail {

/// What a tuned value depends on. Two that differ in anything know nothing of each other.
struct TuningKey {
  std::string operator_name;
  std::string shape_class;
  std::string device;   ///< backend, name, units, instruction set
  std::string driver;   ///< with its version
  std::string library;  ///< the library's version
  std::string kernels;  ///< the build id of the plug-in, which holds them

  bool operator==(const TuningKey&) const = default;
  auto operator<=>(const TuningKey&) const = default;
};

struct TuningLine {
  TuningKey key;
  TuningRecord record;
  std::string default_variant;  ///< that the search compared with
  double default_s = 0;         ///< 0: it was wrong
  std::string problem;          ///< that was measured
  std::string when;
};

/// A text as a line holds it: without control characters, and cut where it is too long. Keys are made of such texts.
[[nodiscard]] std::string fit_for_line(std::string_view text);

/// Without an end of line.
[[nodiscard]] std::string text_of(const TuningLine& line);

/// What a line of the file is: a record; a line in a format of another version, which is left alone; or damaged, with
/// the sentence that says why.
struct OtherFormat {};
using ReadLine = std::variant<TuningLine, OtherFormat, std::string>;
[[nodiscard]] ReadLine read_tuning_line(std::string_view text);

}  // namespace tessera::detail
