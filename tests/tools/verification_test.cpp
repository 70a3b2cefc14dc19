// A wrong result is a failure: shown with runs that are wrong on purpose.
#include "tools/verify/verification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "cpu_device_test.h"
#include "fake_problem.h"
#include "tools/verify/verify_command.h"

namespace tessera::tool {
namespace {

using conformance::Purpose;
using fake::Behaviour;

class VerifyTest : public CpuDeviceTest {
 protected:
  /// Runs the command's heart on cases that behave like this.
  VerifyCounts verify(const std::vector<Behaviour>& behaviours, const Selection& selection = {}) {
    sets_ = fake::problem_sets(behaviours);
    std::ostringstream text;
    records_ = Json::array();
    const auto jobs = plan_jobs(selection, sets_, devices_.list, {Purpose::conformance});
    const VerifyCounts counts = verify_jobs(jobs, text, records_);
    text_ = text.str();
    return counts;
  }
  [[nodiscard]] bool says(const std::string& words) const { return text_.find(words) != std::string::npos; }

  std::vector<conformance::ProblemSet> sets_;
  std::string text_;
  Json records_;
};

TEST_F(VerifyTest, passes_what_is_right) {
  const VerifyCounts counts = verify({Behaviour::right});
  EXPECT_EQ(counts.passed, 1U);
  EXPECT_EQ(counts.failed, 0U);
  EXPECT_EQ(counts.unsupported, 1U);
  EXPECT_TRUE(counts.success());
  EXPECT_TRUE(says("fancy (1 case): n of fake is 8, but must be at least 9")) << text_;
}

TEST_F(VerifyTest, fails_a_wrong_result_and_says_how_to_reproduce_it) {
  const VerifyCounts counts = verify({Behaviour::right, Behaviour::wrong});
  EXPECT_EQ(counts.failed, 1U);
  EXPECT_FALSE(counts.success());
  EXPECT_TRUE(says("element 7 is 4, but must be 1 within 1")) << text_;
  EXPECT_TRUE(says("reproduce: tessera verify fake --device 'cpu:0' --variant plain --case case_1")) << text_;
  const Json& record = records_.at(2);
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_EQ(record.at("error").at("worst"), 3.0);
  EXPECT_EQ(record.at("error").at("bound"), 1.0);
}

TEST_F(VerifyTest, fails_a_second_run_with_other_bits) {
  EXPECT_FALSE(verify({Behaviour::unstable}).success());
  EXPECT_TRUE(says("a second run gives other bits than the first")) << text_;
}

TEST_F(VerifyTest, fails_what_throws_and_goes_on) {
  const VerifyCounts counts = verify({Behaviour::throws, Behaviour::right});
  EXPECT_EQ(counts.failed, 1U);
  EXPECT_EQ(counts.passed, 1U);
  EXPECT_TRUE(says("device_lost: the fake device is lost")) << text_;
}

TEST_F(VerifyTest, is_no_success_if_nothing_ran) {
  const VerifyCounts counts = verify({Behaviour::right}, {.variants = {"fancy"}});
  EXPECT_EQ(counts.unsupported, 1U);
  EXPECT_FALSE(counts.success());
  EXPECT_TRUE(says("nothing ran")) << text_;
}

TEST(ShareOfBoundTest, exact_is_nothing_and_wrong_without_a_bound_is_infinite) {
  EXPECT_EQ(share_of_bound(0, 0), 0.0);
  EXPECT_EQ(share_of_bound(1, 2), 0.5);
  EXPECT_TRUE(std::isinf(share_of_bound(1, 0)));
}

}  // namespace
}  // namespace tessera::tool
