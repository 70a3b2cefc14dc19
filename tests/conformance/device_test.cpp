// Devices: what they say of themselves, and how they are opened.
#include <gtest/gtest.h>

#include <algorithm>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class DeviceTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(DeviceTest);

TEST_P(DeviceTest, says_what_it_is) {
  const DeviceInfo info = device().info();
  EXPECT_EQ(info.id, GetParam());
  EXPECT_EQ(info.id, device().id());
  EXPECT_FALSE(info.backend.empty());
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.driver.empty());
  EXPECT_FALSE(info.driver_version.empty());
  EXPECT_GT(info.memory_total_bytes, 0U);
  EXPECT_LE(info.memory_free_bytes, info.memory_total_bytes);
  EXPECT_GT(info.compute_units, 0U);
  EXPECT_GT(info.max_group_size, 0U);
  for (const std::uint64_t extent : info.max_group_extent) EXPECT_GT(extent, 0U);
  EXPECT_GT(info.local_memory_bytes, 0U);
  EXPECT_GT(info.max_allocation_bytes, 0U);
  EXPECT_GT(info.timer_resolution_s, 0.0);
  EXPECT_LT(info.timer_resolution_s, 1e-3);
  EXPECT_TRUE(info.chosen_because.empty()) << "it was opened by name";
}

TEST_P(DeviceTest, is_listed_under_its_backend) {
  const auto present = devices();
  const auto listed =
      std::find_if(present.begin(), present.end(), [&](const auto& info) { return info.id == GetParam(); });
  ASSERT_NE(listed, present.end());
  EXPECT_EQ(listed->name, device().info().name);
  EXPECT_EQ(listed->backend, device().info().backend);
}

TEST_P(DeviceTest, an_absent_index_lists_what_is_there) {
  const std::string absent = GetParam().substr(0, GetParam().find(':')) + ":99";
  const Refusal refusal = refusal_of([&] { static_cast<void>(open(absent)); });
  EXPECT_EQ(refusal.code, ErrorCode::unavailable) << refusal.what;
  EXPECT_TRUE(contains(refusal.what, absent));
  EXPECT_TRUE(contains(refusal.what, GetParam()));
}

TEST_P(DeviceTest, two_openings_do_not_share_buffers) {
  const Device other = fresh_device();
  Queue queue(device());
  const auto buffer = other.allocate<float>(4);
  const Refusal refusal = refusal_of([&] { queue.fill(buffer, 1.0F); });
  EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
  EXPECT_TRUE(contains(refusal.what, GetParam()));
  queue.finish();
}

TEST(DeviceTest, open_without_a_name_says_why) {
  const Device chosen = open();
  EXPECT_EQ(chosen.id(), devices().front().id);
  EXPECT_TRUE(contains(chosen.info().chosen_because, chosen.id()));
}

}  // namespace
}  // namespace tessera::testing_support
