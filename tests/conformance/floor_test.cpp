// A backend that offers nothing cannot pass: each that is ready must offer its floor of every operator, on each of its
// devices, and must compute something right with each variant of it in each type. Every variant of ours stands in a
// floor, so that none can go, or refuse all that it is asked, unnoticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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
  /// Does the variant pass a case of the type that has something to compute? If not, the sentence that says why.
  [[nodiscard]] std::string why_not_verified(const ProblemSet& set, const std::string& variant, DataType type) const {
    std::string why = "no case of the type was tried";
    for (const auto& problem : set.cases) {
      if (problem->purpose() != Purpose::conformance || problem->type() != type || problem->work().flops == 0) continue;
      const std::vector<VariantReport> reports = problem->explain(device());
      const auto report = std::find_if(reports.begin(), reports.end(),
                                       [&](const VariantReport& row) { return row.variant == variant; });
      if (report == reports.end()) return "it is not in the list";
      if (!report->can_run) {
        why = "it refuses every case, " + std::string(problem->name()) + " because " + report->because;
        continue;
      }
      const auto run = problem->prepare(device(), {.variant = variant});
      if (run->info().variant != variant) return "'" + run->info().variant + "' ran in its place";
      Queue queue(device());
      run->reset(queue);
      run->enqueue(queue);
      const Outcome outcome = run->check(queue);
      return outcome.passed ? "" : std::string(problem->name()) + ": " + outcome.failure;
    }
    return why;
  }
};
TESSERA_ON_EACH_DEVICE(FloorTest);

TEST_P(FloorTest, every_variant_of_the_floor_is_offered_and_right) {
  const DeviceInfo info = device().info();
  bool offers_something = false;
  for (const ProblemSet& set : conformance::problem_sets()) {
    bool has_floor = false;
    for (const Floor& floor : set.floors) {
      if (floor.backend != info.backend) continue;
      has_floor = true;
      if (floor.only_on && *floor.only_on != info.kind) continue;
      ASSERT_FALSE(floor.variants.empty() || floor.types.empty())
          << "the floor of " << info.backend << " for " << set.operator_name << " is empty";
      for (const DataType type : floor.types) {
        if (type == DataType::float64 && !info.has_float64) continue;
        for (const std::string& variant : floor.variants) {
          EXPECT_EQ(why_not_verified(set, variant, type), "")
              << info.backend << " must offer the variant '" << variant << "' of " << set.operator_name << " in "
              << to_string(type);
        }
      }
    }
    // A backend from elsewhere has no floor of ours; it must offer something of one operator at least.
    offers_something = offers_something || has_floor || !set.cases.front()->explain(device()).empty();
  }
  EXPECT_TRUE(offers_something) << info.backend << " offers no variant of any operator";
}

TEST_P(FloorTest, every_variant_of_ours_stands_in_a_floor) {
  const std::string backend = device().info().backend;
  for (const ProblemSet& set : conformance::problem_sets()) {
    std::set<std::string> in_floors;
    for (const Floor& floor : set.floors) {
      if (floor.backend == backend) in_floors.insert(floor.variants.begin(), floor.variants.end());
    }
    if (in_floors.empty()) continue;  // a backend from elsewhere
    for (const VariantReport& report : set.cases.front()->explain(device())) {
      if (report.variant.starts_with("vendor_")) continue;  // may be missing on a machine
      EXPECT_TRUE(in_floors.contains(report.variant))
          << backend << " offers '" << report.variant << "' of " << set.operator_name << ", which no floor demands";
    }
  }
}

TEST(FloorTest, every_backend_that_is_ready_has_a_device) {
  for (const BackendInfo& backend : backends()) {
    EXPECT_FALSE(backend.reason.empty()) << backend.name << " is " << to_string(backend.state) << " without a reason";
    EXPECT_EQ(backend.state == BackendState::ready, !backend.devices.empty()) << backend.name;
  }
}

}  // namespace
}  // namespace tessera::testing_support
