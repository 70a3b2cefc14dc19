// Ratios, rounds and tables of `bench --random`, with a measurer that answers what a test wants; and the processes that
// measure.
#include "tools/bench/random_run.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cpu_device_test.h"
#include "fake_problem.h"
#include "tools/bench/bench_record.h"
#include "tools/bench/problem_rounds.h"
#include "tools/bench/random_tables.h"
#include "tools/bench/ratios.h"
#include "tools/command.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {
namespace {

ProblemRatios ratios_of(double chosen_s, double own_s, double vendor_s) {
  ProblemRatios ratios{.of_class = "odd",
                       .number = 0,
                       .problem = "m=" + std::to_string(static_cast<int>(chosen_s)),
                       .case_name = "case",
                       .chosen = {"register", chosen_s},
                       .best_own = {"tiled", own_s},
                       .best_vendor = {}};
  if (vendor_s > 0) ratios.best_vendor = Timed{"vendor_x", vendor_s};
  return ratios;
}

TEST(RatiosTest, say_how_fast_the_default_is) {
  const ProblemRatios slow = ratios_of(4, 3, 2);
  EXPECT_DOUBLE_EQ(slow.over_own(), 0.75);
  EXPECT_DOUBLE_EQ(slow.over_all(), 0.5);
  EXPECT_DOUBLE_EQ(slow.over_vendors().value(), 0.5);
  EXPECT_EQ(slow.best().variant, "vendor_x");
  const ProblemRatios fast = ratios_of(4, 4, 8);
  EXPECT_DOUBLE_EQ(fast.over_all(), 1) << "nothing at all is faster";
  EXPECT_DOUBLE_EQ(fast.over_vendors().value(), 2);
  EXPECT_FALSE(ratios_of(4, 4, 0).over_vendors().has_value());
}

TEST(RatiosTest, are_summarised) {
  const RatioSummary summary = summarise_ratios({0.5, 2, 0.9, 0.75, 1 / 0.675});
  EXPECT_EQ(summary.count, 5U);
  EXPECT_NEAR(summary.geometric_mean, 1, 1e-12);
  EXPECT_DOUBLE_EQ(summary.share_from_0_9, 0.6);
  EXPECT_DOUBLE_EQ(summary.share_from_0_75, 0.8);
  EXPECT_DOUBLE_EQ(summary.least, 0.5);
  EXPECT_EQ(summarise_ratios({}).count, 0U);
}

TEST(RatiosTest, the_worst_come_first_and_only_where_something_was_faster) {
  std::vector<ProblemRatios> problems;
  for (int i = 20; i > 0; --i) problems.push_back(ratios_of(i, 1, 0));
  const auto worst = worst_of(problems, &ProblemRatios::over_own);
  ASSERT_EQ(worst.size(), kWorst);
  EXPECT_EQ(worst.front().problem, "m=20");
  EXPECT_EQ(worst_of({ratios_of(1, 1, 0), ratios_of(2, 1, 0)}, &ProblemRatios::over_own).size(), 1U);
}

/// Answers with times of a list, one after the other; the last stays.
class FakeMeasurer : public Measurer {
 public:
  [[nodiscard]] Json measure(const Job& job, double rival_s) override {
    asked.push_back(job.variant);
    rivals_s.push_back(rival_s);
    BenchRecord record;
    record.job = job;
    std::vector<double>& times = seconds[job.variant];
    if (times.empty()) {
      record.reason = "element 7 is 4, but must be 1 within 1";
      return to_json(record);
    }
    record.status = BenchStatus::verified;
    Measurement measurement;
    measurement.device_s = summarise({times.front()});
    measurement.wall_s = measurement.device_s;
    if (times.size() > 1) times.erase(times.begin());
    record.measurement = measurement;
    return to_json(record);
  }

  std::map<std::string, std::vector<double>> seconds;
  std::vector<std::string> asked;
  std::vector<double> rivals_s;
};

class ProblemRoundsTest : public CpuDeviceTest {
 protected:
  void SetUp() override {
    CpuDeviceTest::SetUp();
    if (IsSkipped()) return;
    sets_ = fake::problem_sets({fake::Behaviour::right});
    for (const char* variant : {"naive", "tiled", "register", "vendor_x", "vendor_y"}) {
      jobs_.push_back({.device = &devices_.list.front(),
                       .set = &sets_.front(),
                       .problem = sets_.front().cases.front().get(),
                       .variant = variant,
                       .typed = "n=8",
                       .is_default = variant == std::string("register")});
    }
  }

  std::vector<conformance::ProblemSet> sets_;
  std::vector<Job> jobs_;
  FakeMeasurer measurer_;
};

TEST_F(ProblemRoundsTest, takes_turns_with_what_came_near_the_best) {
  measurer_.seconds = {
      {"naive", {9}}, {"tiled", {1.1, 0.8, 0.9}}, {"register", {1, 1, 3}}, {"vendor_x", {5}}, {"vendor_y", {2}}};
  const ProblemResult result = measure_problem(jobs_, measurer_, 3);
  EXPECT_EQ(measurer_.asked, (std::vector<std::string>{"register", "naive", "tiled", "vendor_x", "vendor_y", "register",
                                                       "tiled", "vendor_y", "register", "tiled", "vendor_y"}));
  EXPECT_EQ(measurer_.rivals_s, (std::vector<double>{0, 1, 1, 0, 5, 0, 0, 0, 0, 0, 0}))
      << "what is no rival is measured briefly, in the first round alone";
  ASSERT_TRUE(result.ratios.has_value());
  EXPECT_EQ(result.ratios->chosen.variant, "register");
  EXPECT_DOUBLE_EQ(result.ratios->chosen.seconds, 1) << "the middle round";
  EXPECT_EQ(result.ratios->best_own.variant, "tiled");
  EXPECT_DOUBLE_EQ(result.ratios->best_own.seconds, 0.9);
  EXPECT_EQ(result.ratios->best_vendor.value().variant, "vendor_y");
  EXPECT_FALSE(result.failed);
  ASSERT_EQ(result.records.size(), 5U);
  EXPECT_EQ(result.records.front().at("rounds_s"), Json({1.0, 1.0, 3.0}));
  EXPECT_EQ(result.records.front().at("is_default"), true);
}

TEST_F(ProblemRoundsTest, a_wrong_result_gets_no_number_and_is_no_rival) {
  measurer_.seconds = {{"naive", {9}}, {"register", {1}}, {"vendor_x", {5}}};
  const ProblemResult result = measure_problem(jobs_, measurer_, 2);
  EXPECT_TRUE(result.failed);
  ASSERT_TRUE(result.ratios.has_value());
  EXPECT_EQ(result.ratios->best_own.variant, "register");
  EXPECT_EQ(result.ratios->best_vendor.value().variant, "vendor_x");
  for (const Json& record : result.records) {
    const bool wrong = record.at("variant") == "tiled" || record.at("variant") == "vendor_y";
    EXPECT_EQ(record.at("status"), wrong ? "failed" : "verified");
    EXPECT_EQ(record.at("device_time_s").is_null(), wrong);
  }
  measurer_.seconds.erase("register");
  EXPECT_FALSE(measure_problem(jobs_, measurer_, 2).ratios.has_value()) << "without the default there is no ratio";
}

TEST_F(ProblemRoundsTest, what_cannot_run_is_not_asked) {
  measurer_.seconds = {{"register", {1}}};
  for (Job& job : jobs_) {
    if (!job.is_default) job.because = "not here";
  }
  const ProblemResult result = measure_problem(jobs_, measurer_, 2);
  EXPECT_EQ(result.records.size(), 1U);
  EXPECT_DOUBLE_EQ(result.ratios.value().over_all(), 1);
  EXPECT_FALSE(result.ratios->best_vendor.has_value());
}

TEST_F(ProblemRoundsTest, a_whole_run_tells_every_class_and_its_worst) {
  measurer_.seconds = {{"naive", {9}},    {"sequential", {9}}, {"tiled", {1}},
                       {"register", {2}}, {"thin", {3}},       {"vendor_onednn", {1}}};
  std::ostringstream text;
  Json result{{"records", Json::array()}};
  const RandomRequest request{
      .operator_name = "gemm", .devices = {"cpu:0"}, .classes = {"odd", "tiny"}, .count = 2, .problem_limits = {}};
  (void)run_random(request, measurer_, text, result);
  ASSERT_EQ(result.at("random").size(), 2U);
  const Json& group = result.at("random").at(0);
  EXPECT_EQ(group.at("class"), "odd");
  ASSERT_EQ(group.at("problems").size(), 2U);
  EXPECT_EQ(group.at("over_own").at("least"), 0.5);
  EXPECT_EQ(group.at("problems").at(0).at("best_own").at("variant"), "tiled");
  EXPECT_EQ(result.at("records").at(0).at("class"), "odd");
  EXPECT_NE(text.str().find("worst over the library's own"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(group.at("problems").at(0).at("problem")), std::string::npos) << text.str();

  RandomRequest wrong = request;
  wrong.classes = {"sideways"};
  EXPECT_THROW((void)run_random(wrong, measurer_, text, result), UsageError);
  wrong.operator_name = "all";
  wrong.classes = {"odd"};
  EXPECT_THROW((void)run_random(wrong, measurer_, text, result), UsageError);
  wrong.operator_name = "nothing";
  EXPECT_THROW((void)run_random(wrong, measurer_, text, result), UsageError);
}

std::string end_of(MeasuringProcess& process) {
  try {
    (void)process.ask("anything");
  } catch (const Error& error) {
    return error.sentence();
  }
  return "";
}

TEST(MeasuringProcessTest, answers_line_by_line) {
  MeasuringProcess echo("/bin/cat", {});
  EXPECT_EQ(echo.ask("one"), "one");
  EXPECT_EQ(echo.ask("two"), "two");
}

TEST(MeasuringProcessTest, says_how_it_ended) {
  MeasuringProcess leaves("/bin/sh", {"-c", "read line; exit 3"});
  EXPECT_EQ(end_of(leaves), "the process that measures it ended with exit code 3");
  MeasuringProcess crashes("/bin/sh", {"-c", "read line; kill -SEGV $$"});
  EXPECT_NE(end_of(crashes).find("was ended by signal 11"), std::string::npos);
  EXPECT_THROW(MeasuringProcess("/nothing/here", {}), Error);
}

TEST(MeasuringProcessTest, is_gone_with_its_owner) {
  pid_t id = 0;
  {
    const MeasuringProcess sleeps("/bin/cat", {});
    id = sleeps.id();
    EXPECT_EQ(kill(id, 0), 0);
  }
  EXPECT_NE(kill(id, 0), 0);
}

}  // namespace
}  // namespace tessera::tool
