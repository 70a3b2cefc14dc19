// What `tessera bench --random` says at its end: the two ratios by class, and the worst problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/ratios.h"
#include "tools/problems/random_problems.h"

namespace tessera::tool {

/// The problems of one class on one device.
struct RandomGroup {
  std::string operator_name;
  std::string device;
  std::string of_class;
  std::size_t asked = 0;
  std::size_t without_default = 0;  ///< problems whose default was skipped or failed
  std::vector<ProblemRatios> problems;
};

/// How many of the worst are told.
inline constexpr std::size_t kWorst = 10;

/// The worst by a ratio, the worst first; only those where something was faster.
[[nodiscard]] std::vector<ProblemRatios> worst_of(std::vector<ProblemRatios> problems,
                                                  double (ProblemRatios::*ratio)() const);

/// Those of one operator on one device together, in the order of the first of each.
[[nodiscard]] std::vector<std::vector<const RandomGroup*>> places_of(const std::vector<RandomGroup>& groups);

/// Of each operator and device: a row for each class and for all together, then the worst. "" for no problem.
[[nodiscard]] std::string random_tables(const std::vector<RandomGroup>& groups);

[[nodiscard]] Json to_json(const RandomGroup& group, std::uint64_t seed, const ProblemLimits& limits);

}  // namespace tessera::tool
