// `tessera bench --random`: how good are the defaults where nobody looked? Random problems of named classes, each
// default beside every variant and every other library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/bench/measuring_process.h"
#include "tools/output/result_file.h"
#include "tools/problems/random_problems.h"
#include "tools/selection.h"

namespace tessera::tool {

struct RandomRequest {
  std::string operator_name = "all";
  std::vector<std::string> devices = {"all"};
  std::vector<std::string> classes = {};  ///< empty: all
  std::size_t count = 0;                  ///< problems of each class
  std::uint64_t seed = 1;
  ProblemLimits problem_limits;
  std::size_t rounds = 3;
  double budget_s = 0;  ///< no problem is begun behind it; 0: no budget
};

/// Prints its tables to `text`, fills in the result and returns the exit code. After Ctrl-C with what is measured so
/// far. UsageError for an operator or a class that is not known.
[[nodiscard]] int run_random(const RandomRequest& request, Measurer& measurer, std::ostream& text, Json& result);

}  // namespace tessera::tool
