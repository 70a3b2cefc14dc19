// The cache of peaks trusts nothing but its own whole files; and shares of peaks are what they say.
#include "tools/peaks/peaks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/scratch_folder.h"
#include "tools/peaks/peak_cache.h"

namespace tessera::tool {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

Peaks some_peaks() {
  Peaks peaks;
  peaks.fma_float32_gflops.value = 200;
  peaks.fma_float64_gflops.value = 100;
  peaks.fma_int32_gflops.value = 80;
  peaks.dot_int8_gflops.value = 800;
  peaks.copy_gbytes_per_s.value = 50;
  peaks.reads = {{.level = "L2", .capacity_bytes = 2 * kMiB, .gbytes_per_s = {400, ""}},
                 {.level = "L3", .capacity_bytes = 32 * kMiB, .gbytes_per_s = {100, ""}},
                 {.level = "memory", .capacity_bytes = 0, .gbytes_per_s = {40, ""}}};
  return peaks;
}

/// Of operands beyond all caches.
WorkRate rate_of(DataType type, double gflops, double gbytes_per_s) {
  return {.kind = DeviceKind::cpu,
          .type = type,
          .gflops = gflops,
          .gbytes_per_s = gbytes_per_s,
          .bytes_in_turn = 512.0 * kMiB};
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
  EXPECT_EQ(found->fma_int32_gflops.value, 80);
  EXPECT_EQ(found->dot_int8_gflops.value, 800);
  EXPECT_EQ(found->copy_gbytes_per_s.value, 50);
  EXPECT_EQ(to_json(*found), to_json(some_peaks()));
}

TEST_F(PeakCacheTest, keeps_why_a_peak_is_unknown) {
  Peaks peaks = some_peaks();
  peaks.dot_int8_gflops = {std::nullopt, "there is no such instruction"};
  peaks.reads[1].gbytes_per_s = {std::nullopt, "too small"};
  peaks.fma_int32_gflops.times_measured = 3;
  peaks.reads[0].gbytes_per_s.times_measured = 2;
  cache().store(peaks);
  const auto found = cache().find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fma_int32_gflops.times_measured, 3);
  EXPECT_EQ(found->reads[0].gbytes_per_s.times_measured, 2);
  EXPECT_EQ(to_json(*found), to_json(peaks));
}

TEST_F(PeakCacheTest, stores_only_what_is_whole) {
  Peaks without_memory = some_peaks();
  without_memory.reads.back().gbytes_per_s = {std::nullopt, "out of memory"};
  Peaks without_float64 = some_peaks();
  without_float64.fma_float64_gflops = {std::nullopt, "no compiler"};
  for (const Peaks& peaks : {without_memory, without_float64, unknown_peaks("nothing was measured")}) {
    cache().store(peaks);
    EXPECT_FALSE(cache().find()) << to_json(peaks);
  }
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
  const auto share = [](DataType type, double gflops, double gbytes_per_s) {
    return peak_share(some_peaks(), rate_of(type, gflops, gbytes_per_s)).value_or(PeakShare{});
  };
  EXPECT_DOUBLE_EQ(share(DataType::float32, 100, 5).share, 0.5);
  EXPECT_EQ(share(DataType::float32, 100, 5).peak, "fma_float32_gflops");
  EXPECT_DOUBLE_EQ(share(DataType::float64, 90, 5).share, 0.9);
  EXPECT_DOUBLE_EQ(share(DataType::float32, 1, 40).share, 0.8);
  EXPECT_EQ(share(DataType::float32, 1, 40).peak, "copy_gbytes_per_s");
  EXPECT_DOUBLE_EQ(share(DataType::int32, 60, 5).share, 0.75);
  EXPECT_DOUBLE_EQ(share(DataType::uint8, 600, 5).share, 0.75);
  EXPECT_DOUBLE_EQ(share(DataType::uint16, 600, 5).share, 0.75);
}

TEST(PeakShareTest, takes_the_fastest_level_that_can_hold_the_operands) {
  const auto peak_of = [](double bytes) {
    WorkRate rate = rate_of(DataType::float32, 0, 40);
    rate.bytes_in_turn = bytes;
    return peak_share(some_peaks(), rate).value_or(PeakShare{});
  };
  EXPECT_EQ(peak_of(1000).peak, "L2");
  EXPECT_DOUBLE_EQ(peak_of(1000).share, 0.1);
  EXPECT_EQ(peak_of(4.0 * kMiB).peak, "L2");
  EXPECT_EQ(peak_of(5.0 * kMiB).peak, "L3");
  EXPECT_DOUBLE_EQ(peak_of(65.0 * kMiB).share, 0.8);
}

TEST(PeakShareTest, is_unknown_without_the_peak) {
  Peaks peaks = some_peaks();
  peaks.fma_float32_gflops = {std::nullopt, "unavailable: NVRTC is not here"};
  EXPECT_EQ(peak_share(peaks, rate_of(DataType::float32, 100, 5))->peak, "copy_gbytes_per_s");
  EXPECT_EQ(to_json(peaks).at("unknown_because").at("fma_float32_gflops"), "unavailable: NVRTC is not here");
  EXPECT_FALSE(peak_share(unknown_peaks("quick"), rate_of(DataType::float32, 100, 5)));
}

TEST(PeakShareTest, tells_no_share_of_a_cache_that_was_not_measured) {
  Peaks peaks = some_peaks();
  peaks.fma_float32_gflops = {std::nullopt, "unknown"};
  WorkRate rate = rate_of(DataType::float32, 100, 5);
  rate.bytes_in_turn = 20.0 * kMiB;
  EXPECT_TRUE(peak_share(peaks, rate));
  peaks.reads[1].gbytes_per_s = {std::nullopt, "unknown"};
  EXPECT_FALSE(peak_share(peaks, rate));
  peaks.reads = {peaks.reads.back()};  // no cache is known at all
  EXPECT_FALSE(peak_share(peaks, rate));
}

TEST(PeakShareTest, leaves_tensor_instructions_out) {
  WorkRate rate = rate_of(DataType::uint8, 600, 5);
  rate.kind = DeviceKind::gpu;
  EXPECT_EQ(peak_share(some_peaks(), rate)->peak, "copy_gbytes_per_s");
}

TEST(PeakShareTest, says_why_it_passes_one) {
  const auto remark = [](const WorkRate& rate) { return remark_on(peak_share(some_peaks(), rate).value(), rate); };
  EXPECT_EQ(remark(rate_of(DataType::float32, 199, 5)), "");
  EXPECT_EQ(remark(rate_of(DataType::float32, 300, 5)),
            "1.50 times the peak fma_float32_gflops: fewer operations were done than are counted");
  EXPECT_NE(remark(rate_of(DataType::int32, 300, 5)).find("shorter numbers"), std::string::npos);
  EXPECT_NE(remark(rate_of(DataType::float32, 1, 60)).find("nearer caches"), std::string::npos);
  WorkRate gpu = rate_of(DataType::float64, 150, 5);
  gpu.kind = DeviceKind::gpu;
  EXPECT_NE(remark(gpu).find("tensor instructions"), std::string::npos);
}

TEST(PeaksTest, have_names) {
  Peaks peaks = some_peaks();
  ASSERT_NE(find_peak(peaks, "dot_int8_gflops"), nullptr);
  EXPECT_EQ(find_peak(peaks, "dot_int8_gflops")->value, 800);
  EXPECT_EQ(find_peak(peaks, "memory")->value, 40);
  EXPECT_EQ(find_peak(peaks, "L9"), nullptr);
}

}  // namespace
}  // namespace tessera::tool
