// The problem sets, made once.
#include "conformance/problem_set.h"
#include "problem_set_list.h"

namespace tessera::conformance {

std::string_view to_string(HostMemory memory) noexcept {
  return memory == HostMemory::pinned ? "pinned" : "ordinary";
}

const std::vector<ProblemSet>& problem_sets() {
  static const std::vector<ProblemSet> sets = make_problem_sets();
  return sets;
}

}  // namespace tessera::conformance
