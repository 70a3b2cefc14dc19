// The tuner with kernels that are slow, wrong or failing on purpose: only what is right at three shapes is measured,
// and only what beats the default is kept.
#include "tools/tune/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu_device_test.h"
#include "tools/process/usage_error.h"
#include "tools/tune/tune_report.h"
#include "tunable_problem.h"

namespace tessera::tool {
namespace {

using fake::Manners;
using fake::MannersOf;
using fake::TunableCase;

VariantReport tunable_row(const std::string& name, const std::vector<Tunable>& tunables) {
  VariantReport row;
  row.variant = name;
  row.can_run = true;
  row.is_default = row.is_shipped_default = name == "plain";
  row.tunables = tunables;
  return row;
}

const std::vector<Tunable> kTile{{"tile", "side of the tile", {4, 8, 16, 32}, 8}};

class TuneTest : public CpuDeviceTest {
 protected:
  void SetUp() override {
    CpuDeviceTest::SetUp();
    set_.operator_name = "tunable";
  }
  /// Tunes a problem with the variants plain, of four tiles, and liar.
  const TuneOutcome& tune_with(const MannersOf& manners_of, const TuneLimits& limits = {.budget_s = 20}) {
    set_.cases.clear();
    set_.cases.push_back(std::make_unique<TunableCase>(
        manners_of, std::vector<VariantReport>{tunable_row("plain", kTile), tunable_row("liar", {})}));
    outcome_ = tune({.device = devices_.list.data(), .set = &set_, .problem = set_.cases[0].get()}, limits,
                    [](double, std::string_view) {});
    return outcome_;
  }
  [[nodiscard]] const std::vector<TuningResult>& kept() const {
    return dynamic_cast<const TunableCase&>(*set_.cases[0]).kept();
  }
  [[nodiscard]] const Trial& trial_of(const std::string& name) const {
    const auto& trials = outcome_.search.trials;
    const auto found = std::find_if(trials.begin(), trials.end(),
                                    [&](const Trial& trial) { return to_string(trial.candidate) == name; });
    if (found == trials.end()) throw std::runtime_error(name + " was not tried");
    return *found;
  }

  conformance::ProblemSet set_;
  TuneOutcome outcome_;
};

TEST_F(TuneTest, wrong_and_failing_candidates_are_recorded_and_get_no_time) {
  const TuneOutcome& outcome = tune_with([](const std::string& variant, const Tuning& tuning, int size) {
    if (variant == "liar") return Manners{.milliseconds = 0.1, .is_wrong = true};
    const std::int64_t tile = tuning.at("tile");
    if (tile == 4) return Manners{.milliseconds = 0.1, .is_wrong = size == 3};  // right at the tuned shape
    if (tile == 32) return Manners{.throws = true};
    return Manners{.milliseconds = tile == 16 ? 1.0 : 4.0};
  });
  EXPECT_EQ(outcome.status, TuneStatus::faster) << outcome.reason;
  ASSERT_TRUE(outcome.best.has_value());
  EXPECT_EQ(to_string(*outcome.best), "plain tile=16");
  EXPECT_TRUE(outcome.search.is_complete);
  EXPECT_EQ(trial_of("liar").status, TrialStatus::wrong);
  EXPECT_EQ(trial_of("liar").seconds, 0);
  EXPECT_EQ(trial_of("liar").reason, "at n7: element 7 is 4, but must be 1 within 1");
  EXPECT_EQ(trial_of("plain tile=4").status, TrialStatus::wrong);
  EXPECT_EQ(trial_of("plain tile=4").at, std::vector<std::string>{"n7"});
  EXPECT_EQ(trial_of("plain tile=32").status, TrialStatus::failed);
  EXPECT_EQ(trial_of("plain tile=16").at, (std::vector<std::string>{"n7", "n3", "n8"}));

  ASSERT_EQ(kept().size(), 1U);
  const TuningResult& result = kept()[0];
  EXPECT_EQ(result.default_variant, "plain");
  EXPECT_GT(result.default_s, result.records.at(0).measured_s);
  ASSERT_EQ(result.records.size(), 4U);
  EXPECT_EQ(result.records[0].verdict, TuningVerdict::faster);
  EXPECT_EQ(result.records[0].tuning, (Tuning{{"tile", 16}}));
  EXPECT_EQ(std::count_if(result.records.begin(), result.records.end(),
                          [](const TuningRecord& record) { return record.verdict == TuningVerdict::wrong; }),
            2);
  EXPECT_EQ(result.records[3].because, "at n7: build_failed: the fake kernel does not compile");

  const std::string table = tune_table({outcome});
  EXPECT_NE(table.find("liar is WRONG: at n7: element 7 is 4"), std::string::npos) << table;
  EXPECT_NE(table.find("plain tile=32 FAILS"), std::string::npos) << table;
  const Json json = to_json(outcome);
  EXPECT_EQ(json.at("status"), "faster");
  EXPECT_EQ(json.at("candidates").size(), outcome.search.trials.size());
  for (const Json& candidate : json.at("candidates")) {
    EXPECT_EQ(candidate.at("device_time_s").is_null(), candidate.at("status") != "right") << candidate;
  }
}

TEST_F(TuneTest, a_default_that_nothing_beats_stays) {
  const TuneOutcome& outcome = tune_with([](const std::string& variant, const Tuning& tuning, int) {
    return Manners{.milliseconds = variant == "plain" && tuning.at("tile") == 8 ? 1.0 : 3.0};
  });
  EXPECT_EQ(outcome.status, TuneStatus::not_faster) << outcome.reason;
  ASSERT_EQ(kept().size(), 1U);
  ASSERT_EQ(kept()[0].records.size(), 1U);
  EXPECT_EQ(kept()[0].records[0].verdict, TuningVerdict::not_faster);
  EXPECT_EQ(kept()[0].records[0].variant, "plain");
}

TEST_F(TuneTest, a_wrong_default_is_replaced_by_what_is_right) {
  const TuneOutcome& outcome = tune_with([](const std::string& variant, const Tuning& tuning, int) {
    return Manners{.milliseconds = 1, .is_wrong = variant == "liar" || tuning.at("tile") != 32};
  });
  EXPECT_EQ(outcome.status, TuneStatus::faster) << outcome.reason;
  EXPECT_EQ(to_string(outcome.best.value()), "plain tile=32");
  EXPECT_EQ(kept().at(0).default_s, 0);
  EXPECT_EQ(outcome.rejected().size(), 4U);
}

TEST_F(TuneTest, where_nothing_is_right_nothing_is_chosen) {
  const TuneOutcome& outcome =
      tune_with([](const std::string&, const Tuning&, int) { return Manners{.is_wrong = true}; });
  EXPECT_EQ(outcome.status, TuneStatus::failed);
  EXPECT_FALSE(outcome.best.has_value());
  EXPECT_NE(outcome.reason.find("plain tile=8 at n7: element 7 is 4"), std::string::npos) << outcome.reason;
  for (const TuningRecord& record : kept().at(0).records) EXPECT_EQ(record.verdict, TuningVerdict::wrong);
}

TEST_F(TuneTest, a_short_budget_tries_the_default_and_a_dry_run_keeps_nothing) {
  const MannersOf slow = [](const std::string&, const Tuning&, int) { return Manners{.milliseconds = 30}; };
  const TuneOutcome& outcome = tune_with(slow, {.budget_s = 0.01, .keeps = false});
  EXPECT_EQ(outcome.status, TuneStatus::undecided);
  EXPECT_EQ(outcome.search.trials.size(), 1U);
  EXPECT_FALSE(outcome.is_kept);
  EXPECT_TRUE(kept().empty());
}

TEST(TuneBudgetTest, is_a_time) {
  EXPECT_EQ(parse_budget("60"), 60);
  EXPECT_EQ(parse_budget("1.5s"), 1.5);
  EXPECT_EQ(parse_budget("5min"), 300);
  EXPECT_EQ(parse_budget("2m"), 120);
  EXPECT_EQ(parse_budget("1h"), 3600);
  for (const char* text : {"", "s", "0", "-1s", "inf", "nan", "1e308h", "5 min", "5sec", "1001h", "ten"})
    EXPECT_THROW((void)parse_budget(text), UsageError) << text;
}

}  // namespace
}  // namespace tessera::tool
