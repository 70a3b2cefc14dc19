// A backend that offers nothing cannot pass: each that is ready must offer its floor (backends/<b>/floor.txt) on each
// of its devices, and must compute something right with each variant of it in each type. A variant of ours that the
// floor does not name must do so in every type that the operator has cases of. So none can refuse all that it is asked
// unnoticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "conformance/problem_set.h"
#include "each_device.h"
#include "floors.h"

namespace tessera::testing_support {
namespace {

using conformance::Case;
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

/// What a backend's floor says of one operator.
std::vector<Floor> floors_of(const std::string& backend, const std::string& operator_name) {
  std::vector<Floor> found;
  for (const Floor& floor : floors()) {
    if (floor.backend == backend && floor.operator_name == operator_name) found.push_back(floor);
  }
  return found;
}

bool has_floor(const std::string& backend) {
  return std::any_of(floors().begin(), floors().end(), [&](const Floor& floor) { return floor.backend == backend; });
}

TEST_P(FloorTest, every_variant_of_the_floor_is_offered_and_right) {
  const DeviceInfo info = device().info();
  bool offers_something = false;
  for (const ProblemSet& set : conformance::problem_sets()) {
    offers_something = offers_something || !set.cases.front()->explain(device()).empty();
    for (const Floor& floor : floors_of(info.backend, set.operator_name)) {
      if (!floor.concerns(info)) continue;
      for (const DataType type : floor.types) {
        if (type == DataType::float64 && !info.has_float64) continue;
        for (const std::string& variant : floor.variants) {
          EXPECT_EQ(why_not_verified(set, variant, type), "")
              << info.backend << " must offer the variant '" << variant << "' of " << set.operator_name << " in "
              << to_string(type);
        }
      }
    }
  }
  EXPECT_TRUE(offers_something) << info.backend << " offers no variant of any operator";
}

TEST_P(FloorTest, a_variant_of_ours_that_no_floor_names_is_right_in_every_type) {
  const DeviceInfo info = device().info();
  if (!has_floor(info.backend)) GTEST_SKIP() << info.backend << " is not one of ours";
  for (const ProblemSet& set : conformance::problem_sets()) {
    std::set<std::string> named;
    for (const Floor& floor : floors_of(info.backend, set.operator_name)) {
      named.insert(floor.variants.begin(), floor.variants.end());
    }
    std::set<DataType> types;
    for (const auto& problem : set.cases) {
      if (problem->purpose() == Purpose::conformance) types.insert(problem->type());
    }
    if (!info.has_float64) types.erase(DataType::float64);
    for (const VariantReport& report : set.cases.front()->explain(device())) {
      if (report.variant.starts_with("vendor_")) continue;  // may be missing on a machine
      if (named.contains(report.variant)) continue;
      for (const DataType type : types) {
        EXPECT_EQ(why_not_verified(set, report.variant, type), "")
            << info.backend << " offers '" << report.variant << "' of " << set.operator_name << ", but not in "
            << to_string(type) << ", and backends/" << info.backend << "/floor.txt does not say so";
      }
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
