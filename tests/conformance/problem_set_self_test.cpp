// The problem sets themselves: names that filters and files can carry, and the operators of the list.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "conformance/problem_set.h"

namespace tessera::conformance {
namespace {

TEST(ProblemSetsTest, are_those_that_the_build_knows_of) {
  std::set<std::string> built;
  std::istringstream list(TESSERA_OPERATORS);
  for (std::string name; std::getline(list, name, ',');) built.insert(name);
  std::set<std::string> present;
  for (const ProblemSet& set : problem_sets()) present.insert(set.operator_name);
  EXPECT_EQ(present, built) << "kName of a problem must be its line's first word in api/operators.txt";
}

TEST(ProblemSetsTest, names_are_unique_and_plain) {
  for (const ProblemSet& set : problem_sets()) {
    std::set<std::string_view> names;
    for (const auto& problem : set.cases) {
      EXPECT_TRUE(names.insert(problem->name()).second) << problem->name() << " appears twice";
      EXPECT_TRUE(std::all_of(problem->name().begin(), problem->name().end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_';
      })) << problem->name();
    }
  }
}

TEST(ProblemSetsTest, hold_cases_of_every_purpose) {
  for (const ProblemSet& set : problem_sets()) {
    std::set<Purpose> purposes;
    int tuned = 0;
    for (const auto& problem : set.cases) {
      purposes.insert(problem->purpose());
      tuned += problem->tries_every_tuning() ? 1 : 0;
      EXPECT_FALSE(problem->problem().empty());
      EXPECT_GE(problem->work().flops, 0);
      EXPECT_GE(problem->work().bytes, 0);
    }
    for (const Purpose purpose : {Purpose::conformance, Purpose::slow, Purpose::benchmark}) {
      EXPECT_TRUE(purposes.contains(purpose)) << set.operator_name << ", purpose " << static_cast<int>(purpose);
    }
    // A study can be run by a test, or there is none.
    EXPECT_EQ(purposes.contains(Purpose::study), purposes.contains(Purpose::quick_study)) << set.operator_name;
    EXPECT_GT(tuned, 0) << set.operator_name;
  }
}

TEST(ProblemSetsTest, have_odd_neighbours_to_check_tunings_at) {
  for (const ProblemSet& set : problem_sets()) {
    for (const auto& problem : set.cases) {
      if (problem->purpose() != Purpose::benchmark) continue;
      SCOPED_TRACE(set.operator_name + " " + std::string(problem->name()));
      EXPECT_FALSE(problem->shape_class().empty());
      const auto neighbours = problem->odd_neighbours();
      ASSERT_EQ(neighbours.size(), 2U);
      EXPECT_LE(neighbours[0]->work().flops, problem->work().flops);
      EXPECT_LE(neighbours[1]->work().flops, neighbours[0]->work().flops);
      for (const auto& neighbour : neighbours) {
        EXPECT_EQ(neighbour->type(), problem->type());
        EXPECT_NE(neighbour->name(), problem->name());
      }
    }
  }
}

}  // namespace
}  // namespace tessera::conformance
