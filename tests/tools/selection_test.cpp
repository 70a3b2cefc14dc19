// Patterns, settings, and the jobs that a selection makes.
#include "tools/selection.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cpu_device_test.h"
#include "fake_problem.h"
#include "tools/output/device_facts.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {
namespace {

using conformance::Purpose;

TEST(PatternTest, matches_whole_names) {
  EXPECT_TRUE(matches("m17", "m17"));
  EXPECT_FALSE(matches("m17", "m171"));
  EXPECT_FALSE(matches("m17", "m1"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
}

TEST(PatternTest, stars_and_question_marks) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("float32_*_k1", "float32_m1_k12_k1"));
  EXPECT_FALSE(matches("float32_*_k1", "float32_m1_k12"));
  EXPECT_TRUE(matches("?ab*", "xabc"));
  EXPECT_FALSE(matches("?ab", "ab"));
}

TEST(SettingsTest, are_names_and_integers) {
  EXPECT_EQ(parse_settings({"tile=8", "threads=-2"}), (Tuning{{"tile", 8}, {"threads", -2}}));
  for (const char* wrong : {"tile", "=8", "tile=", "tile=8x", "tile=1.5", "tile=99999999999999999999"}) {
    EXPECT_THROW((void)parse_settings({wrong}), UsageError) << wrong;
  }
  EXPECT_THROW((void)parse_settings({"tile=8", "tile=4"}), UsageError);
}

TEST(SameCardTest, is_found_by_uuid_or_address) {
  DeviceInfo cuda;
  cuda.id = "cuda:0";
  cuda.uuid = "00ff";
  DeviceInfo opencl;
  opencl.id = "opencl:1";
  opencl.uuid = "00ff";
  DeviceInfo other;
  other.id = "opencl:0";
  other.pci_address = "0000:01:00.0";
  EXPECT_EQ(same_card_as(cuda, {cuda, opencl, other}), std::vector<std::string>{"opencl:1"});
  cuda.pci_address = "0000:01:00.0";
  EXPECT_EQ(same_card_as(other, {cuda, opencl, other}), std::vector<std::string>{"cuda:0"});
}

TEST(SameCardTest, is_not_found_by_facts_that_no_driver_gave) {
  DeviceInfo first;
  first.id = "cpu:0";
  DeviceInfo second;
  second.id = "cpu:1";
  EXPECT_TRUE(same_card_as(first, {first, second}).empty());
}

class JobsTest : public CpuDeviceTest {
 protected:
  void SetUp() override {
    CpuDeviceTest::SetUp();
    sets_ = fake::problem_sets({fake::Behaviour::right, fake::Behaviour::right});
  }
  [[nodiscard]] std::vector<Job> plan(const Selection& selection) const {
    return plan_jobs(selection, sets_, devices_.list, {Purpose::conformance});
  }
  /// The sentence of the UsageError, "" if there is none.
  [[nodiscard]] std::string refusal(const Selection& selection) const {
    try {
      (void)plan(selection);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  std::vector<conformance::ProblemSet> sets_;
};

TEST_F(JobsTest, are_every_case_times_every_variant) {
  const std::vector<Job> jobs = plan({});
  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs[0].variant, "plain");
  EXPECT_EQ(jobs[0].because, "");
  EXPECT_EQ(jobs[1].variant, "fancy");
  EXPECT_NE(jobs[1].because.find("must be at least 9"), std::string::npos);
}

TEST_F(JobsTest, try_every_tuning_value_on_the_cases_meant_for_it) {
  const std::vector<Job> jobs = plan({.variants = {"plain"}, .every_tuning = true});
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].tuning, Tuning{});
  EXPECT_EQ(jobs[1].tuning, (Tuning{{"tile", 4}}));
  EXPECT_EQ(jobs[1].problem, jobs[0].problem);
  EXPECT_TRUE(jobs[1].is_extra);
  EXPECT_FALSE(jobs[0].is_extra || jobs[2].is_extra);
  EXPECT_EQ(jobs[2].tuning, Tuning{});
  EXPECT_EQ(plan({.variants = {"plain"}, .settings = {"tile=8"}, .every_tuning = true}).size(), 2U);
}

/// A case whose variant has tunables that are paired.
class PairedCase : public fake::FakeCase {
 public:
  PairedCase() : FakeCase("case_0", fake::Behaviour::right) {}
  [[nodiscard]] std::vector<VariantReport> explain(const Device&) const override {
    VariantReport report;
    report.variant = "register";
    report.can_run = true;
    report.tunables = {{.name = "tile_m", .meaning = "rows", .values = {32, 64}, .preferred = 64},
                       {.name = "tile_n",
                        .meaning = "columns",
                        .values = {32, 128},
                        .preferred = 128,
                        .paired_with = "tile_m",
                        .pairs = {{32, 32}, {64, 128}}}};
    return {report};
  }
};

TEST_F(JobsTest, try_pairs_of_tuning_values) {
  sets_[0].cases.clear();
  sets_[0].cases.push_back(std::make_unique<PairedCase>());
  const std::vector<Job> jobs = plan({.every_tuning = true});
  ASSERT_EQ(jobs.size(), 2U) << "the preferred pair comes first, and not again";
  EXPECT_EQ(jobs[1].tuning, (Tuning{{"tile_m", 32}, {"tile_n", 32}}));
  EXPECT_EQ(jobs[1].because, "");
  EXPECT_EQ(plan({.settings = {"tile_m=32", "tile_n=32"}}).at(0).because, "");
  EXPECT_EQ(plan({.settings = {"tile_m=32"}}).at(0).because,
            "tile_m x tile_n of register is 32 x 128, but must be one of 32 x 32, 64 x 128 here");
}

TEST_F(JobsTest, are_only_what_is_named) {
  const std::vector<Job> jobs = plan({.variants = {"plain"}, .cases = {"*_1"}, .settings = {"tile=4"}});
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].tuning, (Tuning{{"tile", 4}}));
  EXPECT_EQ(command_line("verify", jobs[0]),
            "tessera verify fake --device 'cpu:0' --variant plain --case case_1 --set tile=4");
}

TEST_F(JobsTest, refuse_names_that_exist_nowhere) {
  EXPECT_NE(refusal({.operator_name = "gemmm"}).find("there are: fake"), std::string::npos);
  EXPECT_NE(refusal({.variants = {"plane"}}).find("'plane'"), std::string::npos);
  EXPECT_NE(refusal({.cases = {"case_9"}}).find("'case_9'"), std::string::npos);
  EXPECT_NE(refusal({.settings = {"tle=8"}}).find("there are: tile"), std::string::npos);
  EXPECT_NE(refusal({.settings = {"tile=5"}}).find("must be one of 4, 8"), std::string::npos);
}

TEST_F(JobsTest, know_no_purpose_that_was_not_asked_for) {
  EXPECT_TRUE(plan_jobs({}, sets_, devices_.list, {Purpose::benchmark}).empty());
}

TEST(SmallJobsTest, are_those_of_small_cases_and_of_each_operators_smallest) {
  std::vector<conformance::ProblemSet> sets(2);
  const auto add = [](conformance::ProblemSet& set, const char* name, double flops) {
    set.cases.push_back(std::make_unique<fake::FakeCase>(name, fake::Behaviour::right, flops));
  };
  add(sets[0], "large", 3e9);
  add(sets[0], "small", 1e9);
  add(sets[0], "at_the_limit", 2e9);
  add(sets[1], "larger", 9e9);  // beyond the limit, both of them: the smaller one must stay
  add(sets[1], "smallest", 8e9);
  std::vector<Job> jobs;
  for (const conformance::ProblemSet& set : sets) {
    for (const auto& problem : set.cases) jobs.push_back({.set = &set, .problem = problem.get()});
  }
  keep_small(jobs, 2e9);
  std::vector<std::string> left;
  for (const Job& job : jobs) left.emplace_back(job.problem->name());
  EXPECT_EQ(left, (std::vector<std::string>{"small", "at_the_limit", "smallest"}));
}

}  // namespace
}  // namespace tessera::tool
