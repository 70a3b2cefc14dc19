// Problems that a command line describes: "m=256:4096:*2,n=777,k=512,type=float32,float64".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/problem_set.h"
#include "tools/selection.h"

namespace tessera::tool {

/// Every problem that the text describes. A value is one word, a list of words with commas, or a range of integers:
/// 16:64:16, 256:4096:*2, 1:9. Lists and ranges give every combination, of which the last field changes fastest.
/// UsageError for a text that is not written so, and for more than 10000 problems.
[[nodiscard]] std::vector<conformance::ProblemWords> parse_problem(const std::string& text);

/// The other way: "m=256,n=777".
[[nodiscard]] std::string problem_text(const conformance::ProblemWords& words);

/// What the subcommands work on: the library's own cases or, with --problem, those that it describes.
class SelectedProblems {
 public:
  /// UsageError for a problem that is not written as it must be, and where --problem comes without one operator.
  explicit SelectedProblems(const Selection& selection);

  /// plan_jobs() of them; of the library's own cases those of the purposes. A typed problem that the library refuses is
  /// a UsageError; one that this machine's memory cannot hold beside its reference gives jobs that say so. They point
  /// into this object.
  [[nodiscard]] std::vector<Job> jobs(const Selection& selection, const std::vector<OpenDevice>& devices,
                                      const std::vector<conformance::Purpose>& purposes) const;

  /// Those of --problem, in their order.
  [[nodiscard]] std::vector<const conformance::Case*> typed() const;

 private:
  std::vector<conformance::ProblemSet> typed_;
  std::map<const conformance::Case*, std::string> texts_;  // as --problem takes them
};

}  // namespace tessera::tool
