// The caching allocator on every device: its books, giving memory back, and running out.
#include <gtest/gtest.h>

#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class AllocatorTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(AllocatorTest);

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

TEST_P(AllocatorTest, keeps_books) {
  const Device device = fresh_device();
  EXPECT_EQ(device.memory().in_use_bytes, 0U);
  auto first = device.allocate<std::uint8_t>(3 * kMebibyte);
  auto second = device.allocate<float>(kMebibyte / 4);
  EXPECT_EQ(device.memory().in_use_bytes, 4 * kMebibyte);
  EXPECT_EQ(device.memory().allocations, 2U);
  EXPECT_EQ(device.memory().cache_hits, 0U);
  first.reset();
  EXPECT_EQ(device.memory().in_use_bytes, kMebibyte);
  EXPECT_GE(device.memory().cached_bytes, 3 * kMebibyte);
  EXPECT_EQ(device.memory().peak_bytes, 4 * kMebibyte);

  const auto again = device.allocate<std::uint8_t>(3 * kMebibyte);
  EXPECT_EQ(device.memory().cache_hits, 1U);
  EXPECT_EQ(device.memory().cached_bytes, 0U);
  second.reset();
  const std::uint64_t cached = device.memory().cached_bytes;
  EXPECT_GE(cached, kMebibyte);
  EXPECT_EQ(device.trim(), cached);
  EXPECT_EQ(device.memory().cached_bytes, 0U);
  EXPECT_EQ(device.trim(), 0U);
  EXPECT_EQ(device.memory().in_use_bytes, 3 * kMebibyte);
}

TEST_P(AllocatorTest, a_request_past_the_memory_names_the_largest_buffers) {
  const Device device = fresh_device();
  const auto small = device.allocate<std::uint8_t>(kMebibyte, {.label = "a small one"});
  const auto ballast = device.allocate<std::uint8_t>(5 * kMebibyte, {.label = "the ballast"});
  const std::size_t absurd = std::size_t{1} << 52;
  const Refusal refusal = refusal_of([&] { static_cast<void>(device.allocate<std::uint8_t>(absurd)); });
  EXPECT_EQ(refusal.code, ErrorCode::out_of_memory) << refusal.what;
  EXPECT_TRUE(contains(refusal.what, std::to_string(absurd)));
  EXPECT_TRUE(contains(refusal.what, GetParam()));
  EXPECT_TRUE(contains(refusal.what, "the ballast"));
  EXPECT_LT(refusal.what.find("the ballast"), refusal.what.find("a small one")) << "largest first: " << refusal.what;

  Queue queue(device);
  const auto after = device.upload<int>(std::vector<int>{1, 2, 3});
  EXPECT_EQ(queue.download(after).get(), (std::vector<int>{1, 2, 3})) << "the device must stay usable";
}

TEST_P(AllocatorTest, sizes_that_overflow_are_refused) {
  const Refusal refusal = refusal_of([&] { static_cast<void>(device().allocate<double>(SIZE_MAX / 4)); });
  EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
  EXPECT_TRUE(contains(refusal.what, std::to_string(SIZE_MAX / 4)));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(device().allocate_pinned<double>(SIZE_MAX / 4)); }).code,
            ErrorCode::invalid_argument);
}

TEST_P(AllocatorTest, the_cache_is_given_back_before_memory_runs_out) {
  const Device device = fresh_device();
  const DeviceInfo info = device.info();
  if (info.kind == DeviceKind::cpu) GTEST_SKIP() << "a host promises more memory than it has";
  const std::uint64_t free = info.memory_free_bytes != 0 ? info.memory_free_bytes : info.memory_total_bytes;
  const auto large = static_cast<std::size_t>(std::min(free / 10 * 6, info.max_allocation_bytes));
  if (large < free / 2) GTEST_SKIP() << "one buffer may only have " << info.max_allocation_bytes << " bytes";
  auto cached = device.allocate<std::uint8_t>(large);
  cached.reset();
  EXPECT_GE(device.memory().cached_bytes, large);
  // A size that the cached block does not serve, and that does not fit beside it.
  const auto larger = device.allocate<std::uint8_t>(large / 4 * 5);
  EXPECT_EQ(device.memory().cached_bytes, 0U);
}

TEST_P(AllocatorTest, memory_in_flight_is_not_handed_out_again) {
  const Device device = fresh_device();
  constexpr std::size_t kCount = 4 * kMebibyte;
  Queue queue(device);
  Queue other(device);
  for (int round = 0; round < 5; ++round) {
    auto kept = device.allocate<std::uint32_t>(kCount);
    {
      const auto passing = device.allocate<std::uint32_t>(kCount);
      queue.fill(passing, 7U + static_cast<std::uint32_t>(round));
      queue.copy(kept, passing);
    }
    const auto next = device.allocate<std::uint32_t>(kCount);
    other.fill(next, 1U);
    other.finish();
    const std::vector<std::uint32_t> found = queue.download(kept).get();
    EXPECT_EQ(found, std::vector<std::uint32_t>(kCount, 7U + static_cast<std::uint32_t>(round)));
  }
  EXPECT_EQ(device.memory().in_use_bytes, 0U);
}

}  // namespace
}  // namespace tessera::testing_support
