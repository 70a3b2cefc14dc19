// The cache of peaks trusts nothing but its own whole files; and shares of peaks are what they say.
#include "tools/peaks/peaks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "scratch_folder.h"
#include "tools/peaks/cpu_fma.h"
#include "tools/peaks/peak_cache.h"

namespace tessera::tool {
namespace {

Peaks some_peaks() {
  Peaks peaks;
  peaks.fma_float32_gflops.value = 200;
  peaks.fma_float64_gflops.value = 100;
  peaks.copy_gbytes_per_s.value = 50;
  return peaks;
}

class PeakCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("TESSERA_CACHE_DIR")) before_ = before;
    ::setenv("TESSERA_CACHE_DIR", scratch_.path("cache").c_str(), 1);
    info_.name = "Some card";
    info_.driver_version = "1.2";
    info_.uuid = "00ff";
    info_.has_float64 = true;
  }
  void TearDown() override { ::setenv("TESSERA_CACHE_DIR", before_.c_str(), 1); }
  [[nodiscard]] PeakCache cache() const { return {info_, "cuda:0"}; }
  [[nodiscard]] std::string stored() const { return find_in_cache("peaks", cache().key()).value_or(""); }
  void damage(const std::string& content) const { store_in_cache("peaks", cache().key(), content); }

  testing_support::ScratchFolder scratch_;
  std::string before_;
  DeviceInfo info_;
};

TEST_F(PeakCacheTest, finds_what_was_stored) {
  EXPECT_FALSE(cache().find());
  cache().store(some_peaks());
  const auto found = cache().find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fma_float32_gflops.value, 200);
  EXPECT_EQ(found->fma_float64_gflops.value, 100);
  EXPECT_EQ(found->copy_gbytes_per_s.value, 50);
}

TEST_F(PeakCacheTest, knows_nothing_of_another_driver) {
  cache().store(some_peaks());
  info_.driver_version = "1.3";
  EXPECT_FALSE(cache().find());
}

TEST_F(PeakCacheTest, knows_nothing_of_another_device) {
  cache().store(some_peaks());
  EXPECT_FALSE(PeakCache(info_, "cuda:1").find());
  info_.name = "Xxxx card";
  EXPECT_FALSE(cache().find());
}

TEST_F(PeakCacheTest, ignores_what_is_no_record_of_peaks) {
  cache().store(some_peaks());
  const std::string whole = stored();
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
    damage(whole.substr(0, length));
    EXPECT_FALSE(cache().find()) << "cut to " << length << " bytes";
  }
  for (const char* content : {"", "null", "[]", "{}", "\x01\x02\xff", "{\"key\": 3, \"peaks\": 4}"}) {
    damage(content);
    EXPECT_FALSE(cache().find()) << content;
  }
}

TEST_F(PeakCacheTest, ignores_peaks_that_are_no_peaks) {
  for (const char* value : {"\"fast\"", "-1", "0", "null"}) {
    cache().store(some_peaks());
    std::string content = stored();
    const std::string name = "\"fma_float64_gflops\": 100.0";
    const std::size_t place = content.find(name);
    ASSERT_NE(place, std::string::npos) << content;
    content.replace(place, name.size(), "\"fma_float64_gflops\": " + std::string(value));
    damage(content);
    EXPECT_FALSE(cache().find()) << value;
  }
}

TEST_F(PeakCacheTest, does_without_a_folder_that_can_be_written) {
  scratch_.write("cache", "a file where the folder should be");
  cache().store(some_peaks());
  EXPECT_FALSE(cache().find());
}

TEST(PeakShareTest, is_the_larger_of_the_two_shares) {
  EXPECT_DOUBLE_EQ(peak_share(some_peaks(), DataType::float32, 100, 5).value(), 0.5);
  EXPECT_DOUBLE_EQ(peak_share(some_peaks(), DataType::float64, 90, 5).value(), 0.9);
  EXPECT_DOUBLE_EQ(peak_share(some_peaks(), DataType::float32, 1, 40).value(), 0.8);
  EXPECT_DOUBLE_EQ(peak_share(some_peaks(), DataType::int32, 1000, 40).value(), 0.8);
}

TEST(PeakShareTest, is_unknown_without_the_peak) {
  Peaks peaks = some_peaks();
  peaks.fma_float32_gflops = {std::nullopt, "unavailable: NVRTC is not here"};
  EXPECT_FALSE(peak_share(peaks, DataType::float32, 100, 5));
  EXPECT_TRUE(peak_share(peaks, DataType::float64, 100, 5));
  EXPECT_EQ(to_json(peaks).at("unknown_because").at("fma_float32_gflops"), "unavailable: NVRTC is not here");
}

TEST(CpuFmaTest, computes_its_chains) {
  // Every chain of x = x * 0.5 + 1 ends at 2.
  EXPECT_FLOAT_EQ(cpu_fma<float>(0.5F, 1.0F, 200), 2.0F * kFmaChains * static_cast<float>(cpu_fma_lanes<float>()));
  EXPECT_DOUBLE_EQ(cpu_fma<double>(0.5, 1.0, 200), 2.0 * kFmaChains * cpu_fma_lanes<double>());
}

}  // namespace
}  // namespace tessera::tool
