// A run beside an older result: what is slower, what is not, and what may stand in a file.
#include "tools/bench/comparison.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cpu_device_test.h"
#include "fake_problem.h"
#include "support/scratch_folder.h"

namespace tessera::tool {
namespace {

using testing_support::ScratchFolder;

class ComparisonTest : public CpuDeviceTest {
 protected:
  void SetUp() override {
    CpuDeviceTest::SetUp();
    sets_ = fake::problem_sets({fake::Behaviour::right, fake::Behaviour::right});
  }

  [[nodiscard]] BenchRecord record(std::size_t index, double seconds, double spread, Tuning tuning = {}) const {
    BenchRecord result;
    result.job = {.device = devices_.list.data(),
                  .set = sets_.data(),
                  .problem = sets_[0].cases[index].get(),
                  .variant = "plain"};
    result.status = BenchStatus::verified;
    result.tuning = std::move(tuning);
    result.measurement.emplace();
    result.measurement->device_s = {.median = seconds, .min = seconds, .max = seconds, .spread = spread, .count = 10};
    return result;
  }
  /// The result file of these records.
  [[nodiscard]] Json file_of(const std::vector<BenchRecord>& records) const {
    Json result{{"tool", "tessera bench"}, {"devices", Json::array()}, {"records", Json::array()}};
    for (const OpenDevice& device : devices_.list) result["devices"].push_back(to_json(device.info));
    for (const BenchRecord& one : records) result["records"].push_back(to_json(one));
    return result;
  }
  [[nodiscard]] std::vector<Change> changes(const std::vector<BenchRecord>& then,
                                            const std::vector<BenchRecord>& now) const {
    return changes_from(OldResults(file_of(then), "old.json"), now);
  }

  std::vector<conformance::ProblemSet> sets_;
};

TEST_F(ComparisonTest, finds_what_is_a_tenth_slower_where_little_spreads) {
  const std::vector<BenchRecord> now{record(0, 1.1e-3, 0.01), record(1, 0.9e-3, 0.01)};
  const auto found = changes({record(0, 1e-3, 0.02), record(1, 1e-3, 0.02)}, now);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].is_slower());
  EXPECT_FALSE(found[0].is_faster());
  EXPECT_NEAR(found[0].ratio(), 1.1, 1e-9);
  EXPECT_TRUE(found[1].is_faster());
  EXPECT_FALSE(found[1].is_slower());
}

TEST_F(ComparisonTest, what_both_runs_spread_is_no_change) {
  const std::vector<BenchRecord> now{record(0, 1.1e-3, 0.06), record(1, 1.04e-3, 0)};
  for (const Change& change : changes({record(0, 1e-3, 0.06), record(1, 1e-3, 0)}, now)) {
    EXPECT_FALSE(change.is_slower() || change.is_faster()) << change.ratio() << " " << change.tolerance;
  }
}

TEST_F(ComparisonTest, what_others_took_of_the_processors_is_no_change) {
  std::vector<BenchRecord> now{record(0, 1.9e-3, 0.01), record(1, 1.9e-3, 0.01)};
  now[0].measurement->others_share = 0.5;
  const std::vector<BenchRecord> then{record(0, 1e-3, 0.02), record(1, 1e-3, 0.02)};
  const auto found = changes(then, now);
  EXPECT_FALSE(found[0].is_slower()) << "half of the machine may make it twice as long";
  EXPECT_TRUE(found[1].is_slower());
  EXPECT_NE(changes_text(OldResults(file_of(then), "old.json"), now).find("1 of them ran"), std::string::npos);
  EXPECT_TRUE(changes(now, then)[1].is_faster());
  EXPECT_FALSE(changes(now, then)[0].is_faster()) << "nor is it faster when they are gone";
}

TEST_F(ComparisonTest, compares_like_with_like) {
  const std::vector<BenchRecord> now{record(0, 2e-3, 0, {{"a", 1}, {"b", 2}})};
  EXPECT_TRUE(changes({record(0, 1e-3, 0)}, now).empty()) << "another tuning";
  EXPECT_TRUE(changes({record(1, 1e-3, 0, {{"a", 1}, {"b", 2}})}, now).empty()) << "another case";
  EXPECT_EQ(changes({record(0, 1e-3, 0, {{"b", 2}, {"a", 1}})}, now).size(), 1U);
  BenchRecord failed = record(0, 1e-3, 0, {{"a", 1}, {"b", 2}});
  failed.status = BenchStatus::failed;
  EXPECT_TRUE(changes({failed}, now).empty());
}

TEST_F(ComparisonTest, tells_what_is_slower_and_what_is_new_and_other_devices) {
  Json then = file_of({record(0, 1e-3, 0)});
  then["devices"][0]["name"] = "another processor";
  const std::string text = changes_text(OldResults(then, "old.json"), {record(0, 2e-3, 0), record(1, 1e-3, 0)});
  EXPECT_NE(text.find("SLOWER"), std::string::npos) << text;
  EXPECT_NE(text.find("2.000"), std::string::npos) << text;
  EXPECT_NE(text.find("but was another processor"), std::string::npos) << text;
  EXPECT_NE(text.find("0 of 1 records are as fast as then; 1 measured now are not in it"), std::string::npos) << text;
}

std::string complaint_of(const std::string& content) {
  const ScratchFolder scratch;
  std::ofstream(scratch.path("old.json")) << content;
  try {
    const OldResults old(scratch.path("old.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.sentence();
  }
  return "";
}

TEST_F(ComparisonTest, a_file_that_is_no_result_gives_one_line) {
  const std::string whole = file_of({record(0, 1e-3, 0)}).dump();
  EXPECT_EQ(complaint_of(whole), "");
  EXPECT_NE(complaint_of("").find("is no JSON"), std::string::npos);
  EXPECT_NE(complaint_of("[]").find("is none of `tessera bench`"), std::string::npos);
  EXPECT_NE(complaint_of(R"({"tool":7})").find("is none of"), std::string::npos);
  EXPECT_NE(complaint_of(R"({"tool":"tessera bench"})").find("has no list of records"), std::string::npos);
  EXPECT_NE(complaint_of(R"({"tool":"tessera bench","records":[7]})").find("record 1 that is none"), std::string::npos);
  EXPECT_NE(complaint_of(R"({"tool":"tessera bench","records":[{"status":"verified"}]})").find("record 1 that lacks"),
            std::string::npos);
  for (const char* median : {"null", "-1", "0", "\"1\"", "1e999"}) {
    Json wrong = file_of({record(0, 1e-3, 0)});
    std::string text = wrong.dump();
    const std::string right = "\"median\":0.001";
    ASSERT_NE(text.find(right), std::string::npos) << text;
    text.replace(text.find(right), right.size(), std::string("\"median\":") + median);
    EXPECT_NE(complaint_of(text), "") << median;
  }
  EXPECT_THROW(OldResults("/no/such/file.json"), Error);
  // Cut anywhere it is no JSON, and no byte that is changed does more than a sentence.
  for (std::size_t i = 0; i < whole.size(); i += 7) {
    EXPECT_NE(complaint_of(whole.substr(0, i)), "") << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x15);
    static_cast<void>(complaint_of(changed));
  }
}

}  // namespace
}  // namespace tessera::tool
