// Random problems from named classes that reflect how an operator is used: `tessera bench --random`. A problem follows
// from operator, class, seed and number alone, whatever the machine and however many are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"
#include "tools/problems/draw.h"

namespace tessera::tool {

struct ProblemClass {
  const char* name;     ///< "vectors"
  const char* summary;  ///< what its problems are, for --help
  void (*draw)(Draw&);  ///< sets the fields of one
};

/// The classes of an operator, each in <op>_classes.cpp; none for an operator that is not known.
[[nodiscard]] const std::vector<ProblemClass>& problem_classes(std::string_view operator_name);

/// What one problem may ask for.
struct ProblemLimits {
  double most_flops = 2e9;
  double most_bytes = 256.0 * (1 << 20);  ///< operands and results together
};

/// As --problem takes it.
struct RandomProblem {
  const ProblemClass* of_class = nullptr;
  std::size_t number = 0;  ///< in its class, from 0
  std::string text;
};

/// `count` problems of a class. What is past the limits is drawn again; of kMostDraws that are all past them, that of
/// the least work is taken.
[[nodiscard]] std::vector<RandomProblem> random_problems(const conformance::ProblemSet& set, const ProblemClass& of,
                                                         std::size_t count, std::uint64_t seed,
                                                         const ProblemLimits& limits);
inline constexpr int kMostDraws = 200;

/// Those of `names`, all for none. UsageError that lists the classes for a name that is none of them.
[[nodiscard]] std::vector<const ProblemClass*> chosen_classes(const std::string& operator_name,
                                                              const std::vector<std::string>& names);

[[nodiscard]] std::vector<ProblemClass> gemm_classes();
[[nodiscard]] std::vector<ProblemClass> conv2d_classes();
[[nodiscard]] std::vector<ProblemClass> cnn_layer_classes();
[[nodiscard]] std::vector<ProblemClass> kernel_regression_classes();
[[nodiscard]] std::vector<ProblemClass> patch_match_classes();
[[nodiscard]] std::vector<ProblemClass> denoise_classes();
[[nodiscard]] std::vector<ProblemClass> nonlocal_means_classes();

}  // namespace tessera::tool
