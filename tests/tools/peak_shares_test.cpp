// Shares that pass 1: a peak that was measured on a busy machine is measured again, and what passes it even then is
// said.
#include "tools/bench/peak_shares.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "fake_problem.h"
#include "support/scratch_folder.h"

namespace tessera::tool {
namespace {

class PeakSharesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("TESSERA_CACHE_DIR")) before_ = before;
    ::setenv("TESSERA_CACHE_DIR", scratch_.path("cache").c_str(), 1);
    std::ostringstream complaints;
    try {
      devices_ = open_devices({"cpu:0"}, complaints);
    } catch (const Error& error) {
      GTEST_SKIP() << error.sentence();
    }
  }
  void TearDown() override { ::setenv("TESSERA_CACHE_DIR", before_.c_str(), 1); }

  [[nodiscard]] BenchRecord record_of(double gflops, BenchStatus status = BenchStatus::verified) const {
    BenchRecord record;
    record.job.device = devices_.list.data();
    record.job.problem = &problem_;
    record.status = status;
    record.reason = "a remark";
    record.gflops = gflops;
    return record;
  }
  /// A float32 peak, measured so often.
  [[nodiscard]] DevicePeaks peaks_of(double gflops, int times_measured) const {
    Peaks peaks = unknown_peaks("not measured");
    peaks.fma_float32_gflops = {gflops, "", times_measured};
    return {{devices_.list.data(), peaks}};
  }
  static void settle(std::vector<BenchRecord>& records, DevicePeaks& peaks) {
    for (BenchRecord& record : records) record.peak = share_of(record, peaks.at(record.job.device));
    std::ostringstream no_terminal;
    Progress progress(records.size(), no_terminal, 0);
    settle_shares(records, peaks, progress);
  }

  testing_support::ScratchFolder scratch_;
  std::string before_;
  OpenDevices devices_;
  fake::FakeCase problem_{"case", fake::Behaviour::right, 1e9};
};

TEST_F(PeakSharesTest, says_of_what_passes_a_peak_that_it_did_less) {
  std::vector<BenchRecord> records{record_of(50), record_of(150), record_of(500, BenchStatus::failed)};
  DevicePeaks peaks = peaks_of(100, 3);
  settle(records, peaks);
  EXPECT_EQ(records[0].reason, "a remark");
  EXPECT_DOUBLE_EQ(records[0].peak->share, 0.5);
  EXPECT_EQ(records[1].reason,
            "a remark; 1.50 times the peak fma_float32_gflops: fewer operations were done than are counted");
  EXPECT_DOUBLE_EQ(records[1].peak->share, 1.5);
  EXPECT_FALSE(records[2].peak) << "what failed has no share";
  EXPECT_EQ(peaks.begin()->second.fma_float32_gflops.times_measured, 3);
}

TEST_F(PeakSharesTest, measures_a_peak_again_that_was_too_low) {
  // A processor of any kind does more than a million multiply-adds a second.
  std::vector<BenchRecord> records{record_of(0.002)};
  DevicePeaks peaks = peaks_of(0.001, 1);
  settle(records, peaks);
  const Peaks& found = peaks.begin()->second;
  EXPECT_GT(found.fma_float32_gflops.value.value_or(0), 0.002);
  EXPECT_EQ(found.fma_float32_gflops.times_measured, 2) << "once was enough";
  EXPECT_FALSE(found.fma_float64_gflops.value) << "no other peak was passed";
  EXPECT_LT(records[0].peak->share, 1);
  EXPECT_EQ(records[0].reason, "a remark");
}

}  // namespace
}  // namespace tessera::tool
