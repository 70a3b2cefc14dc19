// The caching allocator: what is freed comes back, what is used waits, and out of memory names who holds it.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include "expect_error.h"

namespace tessera {
namespace {

TEST(AllocatorTest, freed_memory_is_given_out_again) {
  const Device device = open("minimal:0");
  { const auto buffer = device.allocate<float>(1000); }
  EXPECT_EQ(device.memory().in_use_bytes, 0U);
  EXPECT_GE(device.memory().cached_bytes, 4000U);
  { const auto buffer = device.allocate<float>(990); }
  const MemoryStatistics statistics = device.memory();
  EXPECT_EQ(statistics.allocations, 2U);
  EXPECT_EQ(statistics.cache_hits, 1U);
  EXPECT_EQ(statistics.peak_bytes, 4000U);
}

TEST(AllocatorTest, trim_gives_the_cache_back) {
  const Device device = open("minimal:0?memory=100000");
  { const auto buffer = device.allocate<char>(90000); }
  EXPECT_LT(device.info().memory_free_bytes, 10001U);
  EXPECT_GE(device.trim(), 90000U);
  EXPECT_EQ(device.memory().cached_bytes, 0U);
  EXPECT_EQ(device.info().memory_free_bytes, 100000U);
  EXPECT_EQ(device.trim(), 0U);
}

TEST(AllocatorTest, out_of_memory_trims_and_tries_again) {
  const Device device = open("minimal:0?memory=100000");
  { const auto buffer = device.allocate<char>(50000); }
  const auto larger = device.allocate<char>(80000);  // fits only once the cached 50000 are gone
  EXPECT_TRUE(larger);
  EXPECT_EQ(device.memory().cached_bytes, 0U);
}

TEST(AllocatorTest, out_of_memory_names_the_largest_live_buffers) {
  const Device device = open("minimal:0?memory=100000");
  const auto weights = device.allocate<char>(60000, {.label = "weights"});
  const auto small = device.allocate<char>(100, {.label = "bias"});
  EXPECT_ERROR((void)device.allocate<char>(70000), ErrorCode::out_of_memory, "70000 bytes", "minimal:0",
               "'weights' of 60000 bytes", "'bias' of 100 bytes");
  const auto fits = device.allocate<char>(10000);  // the device is usable afterwards
  EXPECT_TRUE(fits);
}

TEST(AllocatorTest, small_buffers_do_not_take_large_cached_ones) {
  const Device device = open("minimal:0");
  { const auto buffer = device.allocate<char>(1 << 20); }
  const auto small = device.allocate<char>(16);
  EXPECT_EQ(device.memory().cache_hits, 0U);
}

TEST(AllocatorTest, buffers_outlive_their_device) {
  Buffer<int> buffer;
  {
    const Device device = open("minimal:0");
    buffer = device.upload<int>(std::vector{7});
  }
  EXPECT_TRUE(buffer);
}

}  // namespace
}  // namespace tessera
