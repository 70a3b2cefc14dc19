// Choosing with tuned values and a site file at hand: who comes first, and what makes a tuned value of no use here.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include "expect_error.h"
#include "variant_choice.h"

namespace tessera::detail {
namespace {

using backend::Verdict;

TuningLine line_of(const std::string& variant, const Tuning& tuning, const std::string& default_variant) {
  return {{}, {TuningVerdict::faster, variant, tuning, 1.0, ""}, default_variant, 2.0, "m=1", "today"};
}

class AdvisedChoiceTest : public ::testing::Test {
 protected:
  [[nodiscard]] Advice tuned_to(const std::string& variant, const Tuning& tuning,
                                const std::string& default_variant = "tiled") {
    tuned_.choice = line_of(variant, tuning, default_variant);
    Advice advice;
    advice.tuned = &tuned_;
    advice.tuned_path = "/data/results.jsonl";
    return advice;
  }
  [[nodiscard]] ChosenVariant pick(const Advice& advice, const KernelOptions& options = {}) const {
    return choose_advised(facts_, options, advice, "gemm", core_);
  }
  /// Why explain() says that it is not used; "" if it is.
  [[nodiscard]] std::string because(const Advice& advice, std::size_t row) const {
    return report_variants(facts_, advice, "gemm", core_).at(row).tuned.value().because;
  }

  Device device_ = open("minimal:0");
  const DeviceCore& core_ = *device_.core();
  TunedClass tuned_;
  const std::vector<VariantFacts> facts_{
      {"tensor", "", Verdict::no("it needs tensor cores"), {}, 2.0, true},
      {"tiled",
       "",
       Verdict::yes(),
       {{"tile", "edge of a tile", {8, 16}, 16}, {"split", "parts of k", {1, 2}, 1}},
       1.0,
       true},
      {"atomic", "", Verdict::yes(), {}, 1.0, false},
      {"naive", "", Verdict::yes(), {}, 1.0, true},
  };
};

TEST_F(AdvisedChoiceTest, a_tuned_value_stands_beside_preferred_ones) {
  const Advice advice = tuned_to("tiled", {{"tile", 8}});
  EXPECT_EQ(pick(advice).index, 1U);
  EXPECT_EQ(pick(advice).tuning, (Tuning{{"tile", 8}, {"split", 1}}));
  EXPECT_EQ(pick(advice).because, "it was tuned on this machine: /data/results.jsonl");
  EXPECT_EQ(because(advice, 1), "");
  EXPECT_TRUE(advice.names("tiled", {}));
  EXPECT_FALSE(advice.names("naive", {}));
  EXPECT_FALSE(advice.names("tiled", {.variant = "naive"}));
  EXPECT_FALSE(advice.names("tiled", {.tuning = {{"tile", 8}}}));
}

TEST_F(AdvisedChoiceTest, options_come_first) {
  const Advice advice = tuned_to("naive", {});
  EXPECT_EQ(pick(advice).index, 3U);
  EXPECT_EQ(pick(advice, {.variant = "tiled"}).index, 1U);
  EXPECT_EQ(pick(advice, {.tuning = {{"tile", 8}}}).tuning, (Tuning{{"tile", 8}, {"split", 1}}));
  EXPECT_EQ(pick(advice, {.variant = "tiled"}).because, "");
}

TEST_F(AdvisedChoiceTest, what_this_problem_does_not_offer_is_not_used) {
  const auto expect_shipped = [&](const Advice& advice, std::size_t row, const std::string& why) {
    const ChosenVariant choice = pick(advice);
    EXPECT_EQ(choice.index, 1U);
    EXPECT_EQ(choice.tuning, (Tuning{{"tile", 16}, {"split", 1}}));
    EXPECT_EQ(choice.because, "");
    if (row < facts_.size()) {
      EXPECT_NE(because(advice, row).find(why), std::string::npos) << because(advice, row);
    }
  };
  expect_shipped(tuned_to("tiled", {{"tile", 32}}), 1, "'tile' of the variant 'tiled' of gemm is 32");
  expect_shipped(tuned_to("tiled", {{"tyle", 8}}), 1, "'tyle' is unknown");
  expect_shipped(tuned_to("tensor", {}), 0, "cannot run this problem: it needs tensor cores");
  expect_shipped(tuned_to("atomic", {}), 2, "the same bits on every run");
  expect_shipped(tuned_to("magic", {}), facts_.size(), "");
  expect_shipped(tuned_to("naive", {}, "naive"), 3,
                 "it was faster than naive, but the default for this problem is tiled");
}

TEST_F(AdvisedChoiceTest, the_site_comes_before_tuned_values) {
  const SiteRules site{"/etc/site", {{false, "gemm", "naive", "", "policy", 1}}, true};
  Advice advice = tuned_to("tiled", {{"tile", 8}});
  advice.site = &site;
  advice.forced = site.rules.data();
  EXPECT_EQ(pick(advice).index, 3U);
  EXPECT_EQ(pick(advice).because, "the site file /etc/site forces it: policy");
  EXPECT_EQ(because(advice, 1), "the site file /etc/site forces it: policy");
  EXPECT_TRUE(advice.names("naive", {}));
  EXPECT_EQ(pick(advice, {.variant = "tiled"}).index, 1U);
  const auto reports = report_variants(facts_, advice, "gemm", core_);
  EXPECT_TRUE(reports[3].is_default);
  EXPECT_TRUE(reports[1].is_shipped_default);
}

TEST_F(AdvisedChoiceTest, where_nothing_can_run_nothing_is_used) {
  const std::vector<VariantFacts> facts{facts_[0]};
  const Advice advice = tuned_to("tensor", {}, "tensor");
  EXPECT_ERROR((void)choose_advised(facts, {}, advice, "gemm", core_), ErrorCode::unsupported, "tensor cores");
  const auto reports = report_variants(facts, advice, "gemm", core_);
  EXPECT_EQ(reports[0].tuned->because, "no variant can run this problem");
  EXPECT_FALSE(reports[0].is_default);
}

}  // namespace
}  // namespace tessera::detail
