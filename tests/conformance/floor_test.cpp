// A backend that offers nothing cannot pass: each that is ready must offer its floor of every operator, on each of its
// devices, and must compute something right with each variant of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/problem_set.h"
#include "each_device.h"

namespace tessera::testing_support {
namespace {

using conformance::Case;
using conformance::Floor;
using conformance::Outcome;
using conformance::ProblemSet;
using conformance::Purpose;

class FloorTest : public EachDevice {
 protected:
  /// Does the variant pass a case that has something to compute?
  [[nodiscard]] bool verifies(const ProblemSet& set, const std::string& variant) const {
    for (const auto& problem : set.cases) {
      if (problem->purpose() != Purpose::conformance || problem->work().flops == 0) continue;
      for (const VariantReport& report : problem->explain(device())) {
        if (report.variant != variant || !report.can_run) continue;
        const auto run = problem->prepare(device(), {.variant = variant});
        Queue queue(device());
        run->reset(queue);
        run->enqueue(queue);
        const Outcome outcome = run->check(queue);
        EXPECT_TRUE(outcome.passed) << problem->name() << ": " << outcome.failure;
        return outcome.passed && run->info().variant == variant;
      }
    }
    return false;
  }
};
TESSERA_ON_EACH_DEVICE(FloorTest);

TEST_P(FloorTest, every_variant_of_the_floor_is_offered_and_right) {
  const std::string backend = device().info().backend;
  bool offers_something = false;
  for (const ProblemSet& set : conformance::problem_sets()) {
    const auto floor = std::find_if(set.floors.begin(), set.floors.end(),
                                    [&](const Floor& entry) { return entry.backend == backend; });
    // A backend from elsewhere has no floor of ours; it must offer something of one operator at least.
    if (floor == set.floors.end()) {
      offers_something = offers_something || !set.cases.front()->explain(device()).empty();
      continue;
    }
    offers_something = true;
    ASSERT_FALSE(floor->variants.empty()) << "the floor of " << backend << " for " << set.operator_name << " is empty";
    for (const std::string& variant : floor->variants) {
      EXPECT_TRUE(verifies(set, variant)) << backend << " must offer the variant '" << variant << "' of "
                                          << set.operator_name << ", and no case of it was verified";
    }
  }
  EXPECT_TRUE(offers_something) << backend << " offers no variant of any operator";
}

TEST(FloorTest, every_backend_that_is_ready_has_a_device) {
  for (const BackendInfo& backend : backends()) {
    EXPECT_FALSE(backend.reason.empty()) << backend.name << " is " << to_string(backend.state) << " without a reason";
    EXPECT_EQ(backend.state == BackendState::ready, !backend.devices.empty()) << backend.name;
  }
}

}  // namespace
}  // namespace tessera::testing_support
