// Draws problems within limits, and finds classes by name.
#include "tools/problems/random_problems.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/process/usage_error.h"
#include "tools/typed_problems.h"

namespace tessera::tool {

namespace {

/// Of a text, by FNV-1a: classes of one seed draw from different sequences.
std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0xcbf29ce484222325U;
  for (const char letter : text) number = (number ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return number;
}

bool is_within(const conformance::Work& work, const ProblemLimits& limits) {
  return work.flops <= limits.most_flops && work.bytes <= limits.most_bytes;
}

/// By how many times it passes the limit that it passes most.
double excess(const conformance::Work& work, const ProblemLimits& limits) {
  return std::max(work.flops / std::max(limits.most_flops, 1.0), work.bytes / limits.most_bytes);
}

}  // namespace

const std::vector<ProblemClass>& problem_classes(std::string_view operator_name) {
  static const std::map<std::string_view, std::vector<ProblemClass>> kClasses{
      {"gemm", gemm_classes()},
      {"conv2d", conv2d_classes()},
      {"cnn_layer", cnn_layer_classes()},
      {"kernel_regression", kernel_regression_classes()},
      {"patch_match", patch_match_classes()},
      {"denoise", denoise_classes()},
      {"nonlocal_means", nonlocal_means_classes()},
  };
  static const std::vector<ProblemClass> kNone;
  const auto found = kClasses.find(operator_name);
  return found == kClasses.end() ? kNone : found->second;
}

std::vector<RandomProblem> random_problems(const conformance::ProblemSet& set, const ProblemClass& of,
                                           std::size_t count, std::uint64_t seed, const ProblemLimits& limits) {
  const std::uint64_t part = number_of(set.operator_name + "/" + of.name);
  std::vector<RandomProblem> problems;
  for (std::size_t i = 0; i < count; ++i) {
    IntegerRandom of_problem(seed, part, i);
    RandomProblem problem{.of_class = &of, .number = i, .text = {}};
    double least = 0;
    for (int tries = 0; tries < kMostDraws; ++tries) {
      Draw draw(IntegerRandom(of_problem.next(), part, i));
      of.draw(draw);
      const conformance::ProblemWords words = draw.take();
      const conformance::Work work = set.make_case(words)->work();
      if (problem.text.empty() || excess(work, limits) < least) {
        problem.text = problem_text(words);
        least = excess(work, limits);
      }
      if (is_within(work, limits)) break;
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::vector<const ProblemClass*> chosen_classes(const std::string& operator_name,
                                                const std::vector<std::string>& names) {
  const std::vector<ProblemClass>& classes = problem_classes(operator_name);
  std::vector<const ProblemClass*> chosen;
  for (const ProblemClass& one : classes) {
    if (names.empty() || std::find(names.begin(), names.end(), one.name) != names.end()) chosen.push_back(&one);
  }
  std::vector<std::string> known;
  for (const ProblemClass& one : classes) known.emplace_back(one.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(
          fmt::format("there is no class '{}' of {}, there are: {}", name, operator_name, fmt::join(known, ", ")));
  }
  return chosen;
}

}  // namespace tessera::tool
