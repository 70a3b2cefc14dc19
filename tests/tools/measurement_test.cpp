// How often a kernel is repeated, and that a measured time is the time that passed.
#include "tools/bench/measurement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <thread>

namespace tessera::tool {
namespace {

TEST(MeasurementPlanTest, runs_short_kernels_in_batches_behind_a_leading_run) {
  const MeasurementPlan plan = plan_measurement(2e-6, 1e-9, 20, {});
  EXPECT_TRUE(plan.lead);
  EXPECT_GE(plan.batch, 250U);
  EXPECT_LE(plan.batch, 251U);
  EXPECT_EQ(plan.repetitions, 10U);
  EXPECT_EQ(plan.skipped, "");
}

TEST(MeasurementPlanTest, makes_batches_longer_for_a_coarse_timer) {
  EXPECT_GE(static_cast<double>(plan_measurement(10e-6, 1e-5, 20, {}).batch) * 10e-6, 200 * 1e-5 * 0.999);
}

TEST(MeasurementPlanTest, runs_long_kernels_alone) {
  const MeasurementPlan plan = plan_measurement(0.1, 1e-6, 20, {});
  EXPECT_FALSE(plan.lead);
  EXPECT_EQ(plan.batch, 1U);
}

TEST(MeasurementPlanTest, repeats_less_within_the_time_limit_and_says_so) {
  const MeasurementPlan plan = plan_measurement(1.0, 1e-6, 5.5, {});
  EXPECT_EQ(plan.skipped, "");
  EXPECT_EQ(plan.repetitions, 5U);
  EXPECT_NE(plan.note.find("5 repetitions instead of 10"), std::string::npos) << plan.note;
}

TEST(MeasurementPlanTest, skips_what_cannot_be_repeated_three_times) {
  EXPECT_NE(plan_measurement(2.0, 1e-6, 5.5, {}).skipped.find("one run takes 2.00 s"), std::string::npos);
}

TEST(MeasurementPlanTest, runs_once_where_that_is_enough) {
  const MeasurementPlan plan = plan_measurement(2.0, 1e-6, 1.0, {.one_run_limit_s = 3});
  EXPECT_EQ(plan.skipped, "");
  EXPECT_EQ(plan.repetitions, 1U);
  EXPECT_NE(plan.note.find("1 repetition instead of 10"), std::string::npos) << plan.note;
}

TEST(MeasurementPlanTest, times_cold_runs_one_by_one) {
  const MeasurementPlan plan = plan_measurement(1e-3, 1e-6, 20, {}, 0.1);
  EXPECT_FALSE(plan.lead);
  EXPECT_EQ(plan.batch, 1U);
  EXPECT_EQ(plan.note, "");
  // Each of two runs is behind a flush: 1 s has room for four such samples.
  EXPECT_EQ(plan_measurement(1e-3, 1e-6, 1, {}, 0.1).repetitions, 4U);
  EXPECT_NE(plan_measurement(1e-5, 1e-6, 20, {}, 0.1).note.find("takes 10 ticks"), std::string::npos);
}

TEST(MeasurementTest, gives_the_time_that_a_kernel_takes) {
  for (const BackendInfo& backend : backends()) {
    if (backend.name == "cpu_tbb" && backend.state != BackendState::ready) GTEST_SKIP() << backend.reason;
  }
  const Device device = open("cpu:0");
  Queue queue(device);
  const OwnKernel sleep = device.compile(
      {.name = "sleep", .parameters = {output<float>("x")}, .cpu = [](const WorkGroup&, std::span<float>) {
         std::this_thread::sleep_for(std::chrono::milliseconds(8));
       }});
  const auto x = device.allocate<float>(1);
  const auto enqueue = [&] { queue.launch(sleep, {.groups = {1}, .group_size = {1}}, x); };
  const Measurement result =
      measure({enqueue}, queue, device.info().timer_resolution_s, {.warm_up_s = 0.02, .min_time_s = 0.01});
  EXPECT_EQ(result.device_s.count, 10U);
  EXPECT_GE(result.device_s.min, 8e-3);
  EXPECT_GE(result.wall_s.median, result.device_s.min);
  EXPECT_LT(result.device_s.min, 80e-3);

  const Measurement once = measure_once({enqueue}, queue);
  EXPECT_FALSE(measure_if_far_behind(once, {enqueue}, queue, 1e-6, {}).has_value()) << "there is no rival";
  EXPECT_FALSE(measure_if_far_behind(once, {enqueue}, queue, 1e-6, {.rival_s = 60e-3}).has_value());
  const auto far = measure_if_far_behind(once, {enqueue}, queue, 1e-6, {.rival_s = 1e-3});
  ASSERT_TRUE(far.has_value());
  EXPECT_GE(far->device_s.min, 8e-3);
  EXPECT_NE(far->plan.note.find("1 repetition without a warm-up"), std::string::npos) << far->plan.note;

  const Measurement skipped =
      measure({enqueue}, queue, 1e-6, {.warm_up_s = 0.01, .min_time_s = 0, .time_limit_s = 0.01});
  EXPECT_NE(skipped.plan.skipped, "");
  EXPECT_EQ(skipped.device_s.count, 0U);
}

}  // namespace
}  // namespace tessera::tool
