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

TEST(FloorsTest, speak_of_kinds_of_devices_and_of_instruction_sets) {
  DeviceInfo card;
  card.kind = DeviceKind::gpu;
  card.instruction_set = "sm_90";
  DeviceInfo processor;
  processor.instruction_set = "AVX2";
  const Floor every{}, processors{.only_on = DeviceKind::cpu}, this_one{.least_sm = 90, .most_sm = 90};
  const Floor newer{.least_sm = 80}, older{.least_sm = 80, .most_sm = 80};
  for (const Floor* floor : {&every, &this_one, &newer}) EXPECT_TRUE(floor->concerns(card));
  for (const Floor* floor : {&processors, &older}) EXPECT_FALSE(floor->concerns(card));
  for (const Floor* floor : {&every, &processors}) EXPECT_TRUE(floor->concerns(processor));
  for (const Floor* floor : {&this_one, &newer, &older}) EXPECT_FALSE(floor->concerns(processor));
  const Floor tiles{.extension = "AMX"};
  for (const DeviceInfo* device : {&card, &processor}) EXPECT_FALSE(tiles.concerns(*device));
  processor.instruction_set = "AVX-512 with VNNI and AMX";
  EXPECT_TRUE(tiles.concerns(processor));
}

}  // namespace
}  // namespace tessera::testing_support
