// The list of problem sets: a new operator is one line here.
#include "conformance/cnn_layer/cnn_layer_problems.h"
#include "conformance/conv2d/conv2d_problems.h"
#include "conformance/gemm/gemm_problems.h"
#include "conformance/problem_set.h"

namespace tessera::conformance {

std::string_view to_string(HostMemory memory) noexcept {
  return memory == HostMemory::pinned ? "pinned" : "ordinary";
}

const std::vector<ProblemSet>& problem_sets() {
  static const std::vector<ProblemSet> sets = [] {
    std::vector<ProblemSet> list;
    list.push_back(gemm_problem_set());
    list.push_back(conv2d_problem_set());
    list.push_back(cnn_layer_problem_set());
    return list;
  }();
  return sets;
}

}  // namespace tessera::conformance
