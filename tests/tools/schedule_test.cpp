// The order of a comparison of everything, what a budget has no room for, and the middle of several rounds.
#include "tools/bench/schedule.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cpu_device_test.h"
#include "fake_problem.h"
#include "tools/bench/job_runner.h"
#include "tools/bench/peers.h"
#include "tools/bench/rounds.h"
#include "tools/bench/summary.h"

namespace tessera::tool {
namespace {

using conformance::Purpose;
using fake::Behaviour;

/// A case with variants of one's own and of others, as a backend would list them.
class ListedCase : public fake::FakeCase {
 public:
  ListedCase(std::string name, double flops, Behaviour behaviour = Behaviour::right)
      : FakeCase(std::move(name), behaviour, flops) {}
  [[nodiscard]] std::vector<VariantReport> explain(const Device&) const override {
    std::vector<VariantReport> reports(6);
    const char* names[] = {"narrow", "best", "second", "vendor_a", "vendor_b", "plain"};
    for (std::size_t i = 0; i < reports.size(); ++i) {
      reports[i].variant = names[i];
      reports[i].can_run = true;
    }
    reports[0].can_run = false;
    reports[0].because = "n of fake is 8, but narrow takes 1 at most";
    reports[1].is_default = true;
    reports[4].can_run = false;
    reports[4].because = "B is not there: libb.so";
    return reports;
  }
};

class ScheduleTest : public CpuDeviceTest {
 protected:
  void SetUp() override {
    CpuDeviceTest::SetUp();
    sets_.resize(2);
    sets_[0].operator_name = "fake";
    sets_[1].operator_name = "other";
  }
  void add(std::size_t set, const std::string& name, double flops, Behaviour behaviour = Behaviour::right) {
    sets_[set].cases.push_back(std::make_unique<ListedCase>(name, flops, behaviour));
  }
  [[nodiscard]] std::vector<Job> jobs() const { return plan_jobs({}, sets_, devices_.list, {Purpose::conformance}); }
  [[nodiscard]] std::vector<BenchRecord> run(const std::vector<Job>& jobs, std::size_t rounds,
                                             double budget_s = 0) const {
    const DevicePeaks peaks{{devices_.list.data(), Peaks{}}};
    std::ostringstream no_terminal;
    Progress progress(jobs.size(), no_terminal, 0);
    return run_jobs(jobs, peaks,
                    {.limits = {.warm_up_s = 0.001, .min_time_s = 0.001}, .rounds = rounds, .budget_s = budget_s},
                    progress);
  }

  std::vector<conformance::ProblemSet> sets_;
};

TEST_F(ScheduleTest, takes_the_default_the_peers_and_the_next_best_from_small_to_large) {
  add(0, "large", 4e9);
  add(0, "small", 1e9);
  add(1, "medium", 2e9);
  std::vector<std::string> found;
  for (const Job& job : best_and_peers(jobs())) found.push_back(std::string(job.problem->name()) + " " + job.variant);
  EXPECT_EQ(found, (std::vector<std::string>{"small best", "small vendor_a", "small second",  //
                                             "medium best", "medium vendor_a", "medium second", "large best",
                                             "large vendor_a", "large second"}));
}

TEST_F(ScheduleTest, groups_the_jobs_of_a_case_and_device) {
  add(0, "one", 1e9);
  add(0, "two", 2e9);
  const std::vector<Job> all = best_and_peers(jobs());
  const Schedule schedule(all, {.warm_up_s = 0.5, .min_time_s = 0.5}, 1, 0);
  ASSERT_EQ(schedule.groups().size(), 2U);
  EXPECT_EQ(schedule.groups()[0].last, 3U);
  EXPECT_EQ(schedule.groups()[1].first, 3U);
  EXPECT_EQ(schedule.refusal(1, 1e9), "") << "there is no budget";
}

TEST_F(ScheduleTest, tells_the_time_left_by_what_was_measured) {
  add(0, "one", 1e9);
  add(0, "two", 2e9);
  add(0, "three", 2e9);
  const std::vector<Job> all = best_and_peers(jobs());
  Schedule schedule(all, {.warm_up_s = 0.5, .min_time_s = 0.5}, 1, 30);
  EXPECT_EQ(schedule.left_s(0, 0), 0) << "nothing is known yet";
  // Three records of a second each and 2 s beside them: of twice the work 3 + 4 s, two times.
  schedule.note(0, 5);
  EXPECT_DOUBLE_EQ(schedule.left_s(1, 5), 14);
  EXPECT_DOUBLE_EQ(schedule.left_s(1, 20), 10) << "no more than the budget has left";
}

TEST_F(ScheduleTest, refuses_what_the_budget_has_no_room_for) {
  add(0, "one", 1e9);
  add(0, "two", 100e9);
  const std::vector<Job> all = best_and_peers(jobs());
  Schedule schedule(all, {.warm_up_s = 0.5, .min_time_s = 0.5}, 1, 30);
  schedule.note(0, 5);  // 2 s beside the records, so 200 s for the large one, give or take
  EXPECT_NE(schedule.refusal(1, 5).find("about 203.00 s"), std::string::npos) << schedule.refusal(1, 5);
  EXPECT_NE(schedule.refusal(1, 31).find("is spent"), std::string::npos);
  EXPECT_EQ(schedule.refusal(0, 5), "");
}

TEST_F(ScheduleTest, what_is_left_out_says_so_and_has_no_number) {
  add(0, "one", 1e9);
  add(0, "two", 1e9);
  const std::vector<Job> all = best_and_peers(jobs());
  const std::vector<BenchRecord> records = run(all, 1, 1e-6);
  ASSERT_EQ(records.size(), 6U);
  for (const BenchRecord& record : records) {
    EXPECT_EQ(record.status == BenchStatus::skipped, record.is_left_out);
    if (!record.is_left_out) continue;
    EXPECT_NE(record.reason.find("the budget of"), std::string::npos) << record.reason;
    EXPECT_TRUE(to_json(record).at("gflops").is_null());
  }
  EXPECT_TRUE(records.back().is_left_out);
  EXPECT_NE(summary_table(records).find("--budget 0"), std::string::npos) << summary_table(records);
}

TEST_F(ScheduleTest, measures_in_rounds_and_keeps_each_ones_median) {
  add(0, "one", 1e9);
  add(0, "bad", 1e9, Behaviour::wrong);
  std::vector<BenchRecord> records = run(best_and_peers(jobs()), 3);
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[0].status, BenchStatus::verified) << records[0].reason;
  EXPECT_EQ(to_json(records[0]).at("rounds_s").size(), 3U);
  EXPECT_EQ(records[3].status, BenchStatus::failed) << "a round that failed is not hidden by others";
  EXPECT_TRUE(to_json(records[3]).at("rounds_s").empty());
  const std::string table = summary_table(records);
  EXPECT_NE(table.find("x vendor_a"), std::string::npos) << table;
  EXPECT_NE(table.find("FAILED"), std::string::npos) << table;
  EXPECT_EQ(table.find("past a peak"), std::string::npos) << table;
  records[0].peak = PeakShare{.share = 1.5, .peak = "fma_float32_gflops", .is_arithmetic = true};
  records[0].reason = "it did less";
  const std::string told = summary_table(records);
  EXPECT_NE(told.find("past a peak: fake cpu:0 best, for instance one: it did less"), std::string::npos) << told;
}

TEST_F(ScheduleTest, peers_that_take_nothing_are_named_with_the_librarys_reason) {
  add(0, "one", 1e9);
  const std::vector<MissingPeer> missing = missing_peers(jobs());
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].variant, "vendor_b");
  EXPECT_EQ(missing[0].devices, std::vector<std::string>{"cpu:0"});
  EXPECT_EQ(missing_peers_line(missing),
            "not compared with, because they are not on this machine: vendor_b (B is not there: libb.so)\n");
  EXPECT_EQ(to_json(missing).at(0).at("reason"), "B is not there: libb.so");
  EXPECT_EQ(missing_peers_line({}), "");
}

BenchRecord record_of(double gflops, BenchStatus status = BenchStatus::verified) {
  BenchRecord record;
  record.status = status;
  record.gflops = gflops;
  if (status == BenchStatus::verified) record.rounds_s = {1 / gflops};
  return record;
}

TEST(RoundsTest, the_middle_one_counts) {
  const BenchRecord middle = middle_of({record_of(4), record_of(1), record_of(2)});
  EXPECT_EQ(middle.gflops, 2);
  EXPECT_EQ(middle.rounds_s, (std::vector<double>{0.25, 1, 0.5}));
  EXPECT_EQ(middle_of({record_of(4), record_of(1)}).gflops, 1) << "of two the slower one";
  EXPECT_EQ(middle_of({record_of(4), record_of(0, BenchStatus::failed)}).status, BenchStatus::failed);
}

}  // namespace
}  // namespace tessera::tool
