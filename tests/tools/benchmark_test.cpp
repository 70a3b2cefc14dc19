// The benchmark's order of things, shown with runs that are right or wrong on purpose: no speed of a wrong result,
// operands that stay, one run of what is slow.
#include "tools/bench/benchmark.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "cpu_device_test.h"
#include "fake_problem.h"

namespace tessera::tool {
namespace {

using conformance::Purpose;
using fake::Behaviour;

class BenchTest : public CpuDeviceTest {
 protected:
  /// Measures the variant "plain" on cases that behave like this, and other tuning values on the first.
  std::vector<BenchRecord> measure(const std::vector<Behaviour>& behaviours, const MeasurementLimits& limits,
                                   bool every_tuning = false) {
    sets_ = fake::problem_sets(behaviours);
    const auto jobs =
        plan_jobs({.variants = {"plain"}, .every_tuning = every_tuning}, sets_, devices_.list, {Purpose::conformance});
    Benchmark benchmark(limits);
    std::vector<BenchRecord> records;
    for (const Job& job : jobs) records.push_back(benchmark.run(job, Peaks{}));
    return records;
  }
  [[nodiscard]] int prepared(std::size_t index) const {
    return dynamic_cast<const fake::FakeCase&>(*sets_[0].cases[index]).prepared();
  }

  std::vector<conformance::ProblemSet> sets_;
};

constexpr MeasurementLimits kShort{.warm_up_s = 0.001, .min_time_s = 0.001};

TEST_F(BenchTest, tells_no_speed_of_a_wrong_result) {
  const auto records = measure({Behaviour::wrong, Behaviour::wrong_later, Behaviour::right}, kShort);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].status, BenchStatus::failed);
  EXPECT_EQ(records[1].status, BenchStatus::failed);
  EXPECT_NE(records[1].reason.find("differ from the verified ones"), std::string::npos) << records[1].reason;
  for (const char* number : {"device_time_s", "wall_time_s", "gflops", "gbytes_per_s", "peak_share"}) {
    EXPECT_TRUE(to_json(records[0]).at(number).is_null()) << number;
    EXPECT_TRUE(to_json(records[1]).at(number).is_null()) << number;
  }
  const std::string table = bench_table(records);
  EXPECT_NE(table.find("FAILED"), std::string::npos) << table;
  EXPECT_NE(table.find("element 7 is 4"), std::string::npos) << table;
  EXPECT_EQ(records[2].status, BenchStatus::verified) << records[2].reason;
  // A run of the fake sleeps for a millisecond between the two events: 1e6 operations in that time are 1 GFLOP/s.
  EXPECT_GT(records[2].gflops, 0.0);
  EXPECT_LE(records[2].gflops, 1.0);
}

TEST_F(BenchTest, measures_another_kernel_on_the_same_operands) {
  const auto records = measure({Behaviour::right, Behaviour::right}, kShort, true);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[1].tuning, (Tuning{{"tile", 4}}));
  EXPECT_EQ(records[1].status, BenchStatus::verified) << records[1].reason;
  EXPECT_EQ(prepared(0), 1);
  EXPECT_EQ(prepared(1), 1);
}

/// The second kernel has no warm-up that would hide it: sets of operands take turns, and each is prepared once.
TEST_F(BenchTest, counts_no_preparing_as_a_run) {
  const auto records = measure({Behaviour::prepares}, {.warm_up_s = 0, .min_time_s = 0.001}, true);
  ASSERT_EQ(records.size(), 2U);
  for (const BenchRecord& record : records) {
    ASSERT_TRUE(record.measurement.has_value()) << record.reason;
    EXPECT_LT(record.measurement->device_s.max, 40e-3);
  }
}

TEST_F(BenchTest, makes_operands_anew_after_a_failure) {
  const auto records = measure({Behaviour::wrong}, kShort, true);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].status, BenchStatus::failed);
  EXPECT_EQ(prepared(0), 2);
}

TEST_F(BenchTest, runs_what_is_slow_once_if_that_is_enough) {
  // A run takes a millisecond.
  MeasurementLimits limits{.warm_up_s = 0.001, .min_time_s = 0.001, .time_limit_s = 0.002};
  EXPECT_EQ(measure({Behaviour::right}, limits).at(0).status, BenchStatus::skipped);
  limits.one_run_limit_s = 10;
  const BenchRecord once = measure({Behaviour::right}, limits).at(0);
  ASSERT_EQ(once.status, BenchStatus::verified) << once.reason;
  EXPECT_EQ(once.measurement->device_s.count, 1U);
  EXPECT_NE(once.reason.find("1 repetition instead of 10"), std::string::npos) << once.reason;
}

TEST_F(BenchTest, does_not_begin_what_an_earlier_case_showed_to_be_too_slow) {
  // The first case is measured, and its time, a millisecond, is expected of the second, which is as large.
  const auto records = measure({Behaviour::right, Behaviour::right},
                               {.warm_up_s = 0, .min_time_s = 0, .time_limit_s = 0.0001, .one_run_limit_s = 0.0001});
  EXPECT_EQ(records.at(0).status, BenchStatus::verified);
  EXPECT_EQ(records.at(1).status, BenchStatus::skipped);
  EXPECT_NE(records[1].reason.find("judged by earlier cases"), std::string::npos) << records[1].reason;
}

}  // namespace
}  // namespace tessera::tool
