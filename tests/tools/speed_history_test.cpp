// What earlier cases say of a later one, on known series.
#include "tools/bench/speed_history.h"

#include <gtest/gtest.h>

namespace tessera::tool {
namespace {

constexpr double kNoHeadroom = 1;

DeviceInfo device_with(DeviceKind kind, std::uint32_t units) {
  DeviceInfo info;
  info.kind = kind;
  info.compute_units = units;
  return info;
}

TEST(SpeedHistoryTest, knows_nothing_of_what_was_never_measured) {
  SpeedHistory history;
  history.add("gemm/tiled", 1e9, 1);
  const Expectation expected = history.expect("gemm/naive", 1e12, kNoHeadroom);
  EXPECT_EQ(expected.likely_s, 0.0);
  EXPECT_EQ(expected.least_s, 0.0);
}

TEST(SpeedHistoryTest, expects_of_a_case_as_large_its_time_within_the_doubt) {
  SpeedHistory history;
  history.add("key", 2e9, 0.5);
  for (const double work : {1e9, 2e9, 8e9}) {
    const Expectation expected = history.expect("key", work, 1000);
    EXPECT_DOUBLE_EQ(expected.likely_s, work / 4e9);
    EXPECT_DOUBLE_EQ(expected.least_s, work / 4e9 / SpeedHistory::kDoubt);
  }
}

TEST(SpeedHistoryTest, judges_by_the_highest_rate) {
  SpeedHistory history;
  history.add("key", 1e9, 1);
  history.add("key", 4e9, 1);
  history.add("key", 5e9, 100);  // something else ran beside it
  EXPECT_DOUBLE_EQ(history.expect("key", 8e9, kNoHeadroom).likely_s, 2);
}

// kernel_regression's fused through OpenCL on an H200: 100 queries and 6000 rows of 784 left nearly all of 132
// multiprocessors idle, and 1000 queries with 60000 rows took 4.5 ms where their rate promised 299 ms.
TEST(SpeedHistoryTest, a_small_case_does_not_condemn_one_that_fills_the_device) {
  SpeedHistory history;
  const double small = 2.0 * 100 * 6000 * 784;
  const double large = 2.0 * 1000 * 60000 * 784;
  history.add("key", small, 2.99e-3);
  const Expectation expected = history.expect("key", large, headroom_of(device_with(DeviceKind::gpu, 132)));
  EXPECT_NEAR(expected.likely_s, 0.299, 1e-9);
  EXPECT_LE(expected.least_s, 4.5e-3);
  // Once a case of a third of the work is known, its rate counts.
  history.add("key", large / 3, 1.5);
  EXPECT_DOUBLE_EQ(history.expect("key", large, 132 * 64).least_s, 0.299 / SpeedHistory::kDoubt);
}

TEST(SpeedHistoryTest, what_no_headroom_can_save_is_known_from_a_small_case_too) {
  SpeedHistory history;
  history.add("sequential", 1e6, 1e-3);  // 1 GFLOP/s
  const Expectation expected = history.expect("sequential", 1e13, headroom_of(device_with(DeviceKind::cpu, 2)));
  EXPECT_DOUBLE_EQ(expected.likely_s, 1e4);
  EXPECT_DOUBLE_EQ(expected.least_s, 1e4 / 32);
}

TEST(SpeedHistoryTest, a_time_of_nothing_says_nothing) {
  SpeedHistory history;
  history.add("key", 0, 1);
  history.add("key", 1e9, 0);
  EXPECT_EQ(history.expect("key", 1e12, kNoHeadroom).least_s, 0.0);
}

TEST(SpeedHistoryTest, a_device_that_tells_no_units_has_one) {
  EXPECT_DOUBLE_EQ(headroom_of(device_with(DeviceKind::gpu, 0)), 64);
}

}  // namespace
}  // namespace tessera::tool
