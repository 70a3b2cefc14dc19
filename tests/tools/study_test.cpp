// What a study concludes from its records: scores, ratios of the default, tables by tuning value, break-even sizes.
#include "tools/study/study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "fake_problem.h"
#include "tools/study/gemm_prediction.h"
#include "tools/study/thread_table.h"
#include "tools/study/transfers.h"
#include "tools/study/tunable_table.h"
#include "tools/study/tuning_list.h"
#include "tools/study/variant_scores.h"

namespace tessera::tool {
namespace {

using conformance::HostMemory;

std::string label_of(const conformance::Case& problem) {
  return std::string(problem.name());
}

class ConclusionsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ostringstream complaints;
    try {
      devices_ = open_devices({"cpu:0", "cpu:0", "cpu:0"}, complaints);
    } catch (const Error& error) {
      GTEST_SKIP() << error.sentence();
    }
    devices_.list[1].name = "card";
    devices_.list[1].info.kind = DeviceKind::gpu;
    sets_ = fake::problem_sets({fake::Behaviour::right, fake::Behaviour::right, fake::Behaviour::right});
  }

  [[nodiscard]] const conformance::Case* problem(std::size_t index) const { return sets_[0].cases[index].get(); }

  /// A verified record, the fourth part of its bound away from the oracle.
  [[nodiscard]] BenchRecord record(const std::string& variant, std::size_t index, double gflops) const {
    BenchRecord result;
    result.job = {.device = &devices_.list[0], .set = sets_.data(), .problem = problem(index), .variant = variant};
    result.job.is_default = variant == "plain";
    result.status = BenchStatus::verified;
    result.outcome = conformance::Outcome{.passed = true, .worst_error = 0.25, .bound = 1, .failure = ""};
    result.measurement.emplace();
    result.gflops = gflops;
    return result;
  }
  [[nodiscard]] BenchRecord skipped(const std::string& variant, std::size_t index) const {
    BenchRecord result = record(variant, index, 0);
    result.status = BenchStatus::skipped;
    result.reason = "one run would take too long";
    result.outcome.reset();
    result.measurement.reset();
    return result;
  }
  [[nodiscard]] BenchRecord tuned(const std::string& variant, std::int64_t tile, double gflops, bool is_extra) const {
    BenchRecord result = record(variant, 0, gflops);
    result.tuning = {{"tile", tile}};
    if (is_extra) result.job.tuning = result.tuning;
    result.job.is_extra = is_extra;
    return result;
  }
  [[nodiscard]] TransferRecord trip(std::size_t device, HostMemory memory, std::size_t index, double compute_s,
                                    double whole_s) const {
    TransferRecord result;
    result.job = {.device = &devices_.list[device], .set = sets_.data(), .problem = problem(index)};
    result.memory = memory;
    result.status = BenchStatus::verified;
    result.compute.wall_s.median = compute_s;
    result.whole.wall_s.median = whole_s;
    return result;
  }

  OpenDevices devices_;
  std::vector<conformance::ProblemSet> sets_;
};

TEST_F(ConclusionsTest, score_variants_over_the_cases_that_they_were_measured_in) {
  const BenchRecords records{record("plain", 0, 10), record("fancy", 0, 20),       record("vendor_x", 0, 40),
                             record("plain", 1, 40), skipped("fancy", 1),          record("vendor_x", 1, 20),
                             record("plain", 2, 20), tuned("fancy", 4, 999, true), record("vendor_x", 2, 20)};
  const std::vector<DeviceScores> scores = score_variants(records);
  ASSERT_EQ(scores.size(), 1U);
  const DeviceScores& device = scores[0];
  EXPECT_EQ(device.cases, 3U);
  ASSERT_EQ(device.variants.size(), 3U);
  EXPECT_EQ(device.variants[0].variant, "plain");
  EXPECT_EQ(device.variants[0].measured, 3U);
  EXPECT_NEAR(device.variants[0].geometric_mean, 20, 1e-9);
  EXPECT_EQ(device.variants[0].least, 10);
  EXPECT_EQ(device.variants[0].most, 40);
  EXPECT_EQ(device.variants[0].fastest, 2U) << "case 1, and case 2 together with the vendor";
  EXPECT_EQ(device.variants[0].worst_share, 0.25);
  EXPECT_EQ(device.variants[1].measured, 1U) << "other tuning values do not count";
  EXPECT_NEAR(device.variants[1].to_best_own.geometric_mean, 1, 1e-9);

  EXPECT_EQ(device.default_to_own.cases, 3U);
  EXPECT_NEAR(device.default_to_own.geometric_mean, std::cbrt(0.5), 1e-9);
  EXPECT_EQ(device.default_to_own.least, 0.5);
  EXPECT_EQ(device.default_to_own.least_case, problem(0));
  EXPECT_EQ(device.default_to_all.least, 0.25);
  ASSERT_EQ(device.default_to_vendor.size(), 1U);
  EXPECT_NEAR(device.default_to_vendor[0].second.geometric_mean, std::cbrt(0.25 * 2 * 1), 1e-9);

  const Json json = to_json(device, label_of);
  EXPECT_EQ(json.at("kept"), false);
  EXPECT_EQ(json.at("default_to_best_own").at("least_case"), "case_0");
  EXPECT_NE(scores_text(scores, label_of).find("below 0.9"), std::string::npos);
}

TEST_F(ConclusionsTest, say_nothing_of_a_default_that_was_not_measured) {
  const std::vector<DeviceScores> scores = score_variants({skipped("plain", 0), record("fancy", 0, 20)});
  EXPECT_EQ(scores.at(0).default_to_own.cases, 0U);
  EXPECT_TRUE(to_json(scores[0], label_of).at("kept").is_null());
}

TEST_F(ConclusionsTest, find_the_default_and_the_best_own_variant) {
  BenchRecords records{record("plain", 0, 10), record("fancy", 0, 20), record("vendor_x", 0, 40),
                       tuned("fancy", 4, 30, true)};
  const auto [chosen, best] = default_and_best(records.begin(), records.end());
  EXPECT_EQ(chosen, records.begin());
  EXPECT_EQ(best, records.begin() + 1);
  records[0] = skipped("plain", 0);
  EXPECT_EQ(default_and_best(records.begin(), records.end()).first, records.end());
}

TEST_F(ConclusionsTest, tell_speeds_by_tuning_value) {
  const BenchRecords records{tuned("plain", 8, 20, false), record("fancy", 0, 5), record("plain", 1, 7),
                             tuned("plain", 4, 10, true)};
  const std::vector<TunableRow> rows = tunable_rows(records, {"tile", "block"});
  ASSERT_EQ(rows.size(), 2U) << "case 1 is not among those that try tuning values";
  EXPECT_EQ(rows[0].tunables, (std::vector<std::string>{"tile"}));
  ASSERT_EQ(rows[0].by_value.size(), 2U);
  EXPECT_EQ(rows[0].by_value[0]->gflops, 10);
  EXPECT_TRUE(rows[1].tunables.empty());
  const Json json = to_json(rows, label_of);
  EXPECT_EQ(json.at(0).at("gflops").at("4"), 10.0);
  EXPECT_EQ(json.at(0).at("preferred"), "8");
  EXPECT_EQ(json.at(1).at("preferred_gflops"), 5.0);
}

TEST_F(ConclusionsTest, tell_speeds_of_pairs_of_tuning_values) {
  BenchRecords records{tuned("plain", 8, 20, false), record("fancy", 0, 40), record("fancy", 0, 30),
                       record("fancy", 0, 35)};
  const std::vector<Tuning> pairs{
      {{"tile_m", 64}, {"tile_n", 128}}, {{"tile_m", 64}, {"tile_n", 64}}, {{"tile_m", 128}, {"tile_n", 64}}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    BenchRecord& record = records[i + 1];
    record.tuning = pairs[i];
    record.tuning["split_k"] = 1;
    record.job.is_extra = i > 0;
    if (record.job.is_extra) record.job.tuning = pairs[i];
  }
  const std::vector<TunableRow> rows = tunable_rows(records, {"tile", "tile_m"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].tunables, (std::vector<std::string>{"tile_m", "tile_n"}));
  const Json json = to_json(rows, label_of);
  EXPECT_EQ(json.at(1).at("tunable"), "tile_m x tile_n");
  EXPECT_EQ(json.at(1).at("preferred"), "64x128");
  EXPECT_EQ(json.at(1).at("gflops"), (Json{{"64x64", 30.0}, {"64x128", 40.0}, {"128x64", 35.0}}));
  EXPECT_NE(tunable_text(rows, label_of).find("64x128"), std::string::npos);
}

TEST_F(ConclusionsTest, tell_speed_ups_by_number_of_threads) {
  // The second device is the first one with two threads, the third another with one number of threads alone.
  devices_.list[0].info.compute_units = 8;
  devices_.list[1].info.compute_units = 2;
  devices_.list[1].info.id = devices_.list[0].info.id;

  devices_.list[2].info.id = "other:0";
  const auto timed = [&](std::size_t device, const std::string& variant, std::size_t index, double seconds) {
    BenchRecord result = record(variant, index, 1);
    result.job.device = &devices_.list[device];
    result.measurement->device_s.median = seconds;
    return result;
  };
  BenchRecord extra = timed(1, "plain", 0, 0.001);
  extra.job.is_extra = true;
  const BenchRecords records{timed(0, "plain", 0, 0.5),
                             timed(0, "fancy", 0, 0.25),
                             timed(0, "plain", 1, 0.75),
                             timed(2, "plain", 0, 0.5),
                             extra,
                             timed(1, "plain", 0, 2),
                             timed(1, "plain", 1, 1.5),
                             skipped("plain", 2)};
  const std::vector<ThreadRow> rows = thread_rows(records);
  ASSERT_EQ(rows.size(), 2U) << "fancy was measured with one number of threads, and so was the other device";
  EXPECT_EQ(rows[0].device, devices_.list[0].info.id);
  EXPECT_EQ(rows[0].first().measurement->device_s.median, 2);
  EXPECT_EQ(rows[0].speed_up(2), 1);
  EXPECT_EQ(rows[0].speed_up(8), 4);
  EXPECT_EQ(rows[1].speed_up(8), 2);
  EXPECT_EQ(rows[0].efficiency(2), 1);
  EXPECT_EQ(rows[1].efficiency(8), 0.5);
  const Json json = to_json(rows, label_of);
  EXPECT_EQ(json.at(1).at("case"), "case_1");
  EXPECT_EQ(json.at(1).at("seconds").at("2"), 1.5);
  EXPECT_EQ(json.at(1).at("speed_up").at("8"), 2.0);
  EXPECT_EQ(json.at(1).at("efficiency").at("8"), 0.5);
  const std::string text = thread_text(rows, label_of);
  EXPECT_NE(text.find("8 threads"), std::string::npos) << text;
  EXPECT_NE(text.find("4.00"), std::string::npos) << text;
  EXPECT_TRUE(thread_text({}, label_of).empty());
}

TEST_F(ConclusionsTest, find_where_a_device_begins_to_win) {
  // The card loses, wins, loses and wins: only the last stretch counts.
  const std::vector<TransferRecord> records{
      trip(0, HostMemory::ordinary, 0, 1, 9),     trip(0, HostMemory::ordinary, 1, 2, 9),
      trip(0, HostMemory::ordinary, 2, 3, 9),     trip(1, HostMemory::ordinary, 0, 0.1, 0.5),
      trip(1, HostMemory::ordinary, 1, 0.1, 2.5), trip(1, HostMemory::ordinary, 2, 0.1, 2.5),
      trip(1, HostMemory::pinned, 0, 0.1, 0.5),   trip(1, HostMemory::pinned, 1, 0.1, 0.5)};
  const std::vector<BreakEven> results = find_break_even(records);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].memory, HostMemory::ordinary);
  EXPECT_EQ(results[0].wins_from, problem(2));
  EXPECT_EQ(results[0].loses_at, problem(1));
  EXPECT_EQ(results[1].wins_from, problem(0));
  EXPECT_EQ(results[1].loses_at, nullptr);
  EXPECT_EQ(to_json(results[0], label_of).at("wins_from"), "case_2");
  EXPECT_NE(break_even_text(results, label_of).find("wins from case_2 on, loses at case_1"), std::string::npos);
}

TEST_F(ConclusionsTest, know_no_break_even_without_a_rival) {
  EXPECT_TRUE(find_break_even({trip(1, HostMemory::pinned, 0, 1, 2)}).empty());
}

TEST_F(ConclusionsTest, predict_speed_from_bytes_and_the_copy_rate) {
  BenchRecords records{tuned("tiled", 16, 300, false), record("vendor_x", 0, 5), skipped("tiled", 1)};
  Peaks peaks = unknown_peaks("not measured");
  DevicePeaks known{{&devices_.list[0], peaks}};
  EXPECT_TRUE(gemm_predictions(records, known).empty()) << "the copy rate is unknown";
  known.begin()->second.copy_gbytes_per_s.value = 100;
  const std::vector<GemmPrediction> predictions = gemm_predictions(records, known);
  ASSERT_EQ(predictions.size(), 1U);
  const double bytes = static_cast<double>(size_bytes(problem(0)->type())) * 2 / 16;
  EXPECT_EQ(predictions[0].bytes_per_product, bytes);
  EXPECT_EQ(predictions[0].gflops, 2 * 100 / bytes);
  EXPECT_EQ(to_json(predictions, label_of).at(0).at("gflops"), 300.0);
  EXPECT_NE(prediction_text(predictions, label_of).find("tile=16"), std::string::npos);
}

TEST_F(ConclusionsTest, list_tunings_one_by_one) {
  const BenchRecords records{tuned("plain", 8, 20, true), skipped("fancy", 0)};
  const Json json = tuning_list_json(records, label_of);
  EXPECT_EQ(json.at(0).at("tuning"), (Json{{"tile", 8}}));
  EXPECT_EQ(json.at(0).at("gflops"), 20.0);
  EXPECT_TRUE(json.at(1).at("gflops").is_null());
  EXPECT_NE(tuning_list_text(records, label_of).find("tile=8"), std::string::npos);
}

}  // namespace
}  // namespace tessera::tool
