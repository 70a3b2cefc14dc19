// The floors themselves: every backend has one, and none demands what no case could show.
#include "floors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "conformance/problem_set.h"

namespace tessera::testing_support {
namespace {

using conformance::ProblemSet;
using conformance::Purpose;

TEST(FloorsTest, every_backend_of_the_list_has_one) {
  std::istringstream backends(TESSERA_LISTED_BACKENDS);
  for (std::string backend; std::getline(backends, backend, ',');) {
    EXPECT_TRUE(
        std::any_of(floors().begin(), floors().end(), [&](const Floor& floor) { return floor.backend == backend; }))
        << "backends/" << backend << "/floor.txt demands nothing";
  }
}

TEST(FloorsTest, demand_nothing_of_a_type_that_no_case_has) {
  for (const Floor& floor : floors()) {
    const auto& sets = conformance::problem_sets();
    const auto set = std::find_if(sets.begin(), sets.end(),
                                  [&](const ProblemSet& each) { return each.operator_name == floor.operator_name; });
    ASSERT_NE(set, sets.end()) << "the floor of " << floor.backend << " names the operator " << floor.operator_name;
    EXPECT_FALSE(floor.types.empty()) << floor.backend << ", " << floor.operator_name;
    for (const DataType type : floor.types) {
      EXPECT_TRUE(std::any_of(
          set->cases.begin(), set->cases.end(),
          [&](const auto& problem) { return problem->purpose() == Purpose::conformance && problem->type() == type; }))
          << floor.backend << ", " << floor.operator_name << ", " << to_string(type);
    }
  }
}

}  // namespace
}  // namespace tessera::testing_support
