// Choosing a variant: the first that can and pays, the forced one or its reason, and tuning only from its list.
#include "variant_choice.h"

#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include "expect_error.h"
#include "operator_dispatch.h"

namespace tessera::detail {
namespace {

using backend::Verdict;

class VariantChoiceTest : public ::testing::Test {
 protected:
  Device device_ = open("minimal:0");
  const DeviceCore& core_ = *device_.core();
  const std::vector<VariantFacts> facts_{
      {"tensor", "", Verdict::no("it needs tensor cores"), {}, 2.0, true},
      {"atomic", "", Verdict::yes(), {}, 1.0, false},
      {"tiled", "", Verdict::yes(), {{"tile", "edge of a tile", {8, 16}, 16}}, 1.0, true},
      {"naive", "", Verdict::yes(), {}, 1.0, true},
  };
};

TEST_F(VariantChoiceTest, the_first_that_can_is_chosen) {
  EXPECT_EQ(choose_variant(facts_, {}, "gemm", core_), 2U);
  EXPECT_EQ(choose_variant(facts_, {.deterministic = false}, "gemm", core_), 1U);
  EXPECT_EQ(choose_variant(facts_, {.variant = "naive"}, "gemm", core_), 3U);
}

TEST_F(VariantChoiceTest, what_does_not_pay_is_passed_over) {
  std::vector<VariantFacts> facts = facts_;
  facts[2].pays = Verdict::no("its transforms cost more than they save");
  EXPECT_EQ(choose_variant(facts, {}, "gemm", core_), 3U);
  EXPECT_EQ(choose_variant(facts, {.variant = "tiled"}, "gemm", core_), 2U);
  std::vector<VariantReport> reports = report_variants(facts, {}, "gemm", core_);
  EXPECT_TRUE(reports[2].can_run);
  EXPECT_FALSE(reports[2].is_default);
  EXPECT_EQ(reports[2].passed_over, "its transforms cost more than they save");
  EXPECT_TRUE(reports[3].is_default);

  facts[3].pays = Verdict::no("it is the plain one");
  EXPECT_EQ(choose_variant(facts, {}, "gemm", core_), 2U) << "none pays: the first that can";
  reports = report_variants(facts, {}, "gemm", core_);
  EXPECT_TRUE(reports[2].is_default);
  for (const VariantReport& report : reports) EXPECT_EQ(report.passed_over, "") << report.variant;
}

TEST_F(VariantChoiceTest, refusals_tell_the_reason) {
  EXPECT_ERROR((void)choose_variant(facts_, {.variant = "tensor"}, "gemm", core_), ErrorCode::unsupported, "'tensor'",
               "it needs tensor cores", "minimal:0");
  EXPECT_ERROR((void)choose_variant(facts_, {.variant = "atomic"}, "gemm", core_), ErrorCode::unsupported, "same bits");
  EXPECT_ERROR((void)choose_variant(facts_, {.variant = "magic"}, "gemm", core_), ErrorCode::invalid_argument,
               "'magic'", "tensor, atomic, tiled and naive");
  EXPECT_ERROR((void)choose_variant({facts_[0], facts_[1]}, {}, "gemm", core_), ErrorCode::unsupported,
               "tensor: it needs tensor cores", "atomic: ");
  EXPECT_ERROR((void)choose_variant({}, {}, "gemm", core_), ErrorCode::unsupported, "offers no gemm");
}

TEST_F(VariantChoiceTest, tuning_comes_from_the_list) {
  EXPECT_EQ(complete_tuning(facts_[2], {}, "gemm", core_), (Tuning{{"tile", 16}}));
  EXPECT_EQ(complete_tuning(facts_[2], {{"tile", 8}}, "gemm", core_), (Tuning{{"tile", 8}}));
  EXPECT_ERROR((void)complete_tuning(facts_[2], {{"tile", 7}}, "gemm", core_), ErrorCode::invalid_argument, "'tile'",
               "is 7", "8 and 16");
  EXPECT_ERROR((void)complete_tuning(facts_[2], {{"tyle", 8}}, "gemm", core_), ErrorCode::invalid_argument, "'tyle'",
               "tile");
  EXPECT_ERROR((void)complete_tuning(facts_[3], {{"tile", 8}}, "gemm", core_), ErrorCode::invalid_argument, "none");
}

TEST_F(VariantChoiceTest, tunings_that_are_paired_must_exist_together) {
  const std::vector<Tunable> tunables{
      {.name = "tile_m", .meaning = "rows", .values = {32, 64}, .preferred = 64},
      {.name = "tile_n",
       .meaning = "columns",
       .values = {32, 128},
       .preferred = 128,
       .paired_with = "tile_m",
       .pairs = {{32, 32}, {64, 128}}},
  };
  const VariantFacts facts{"register", "", Verdict::yes(), tunables, 1.0, true};
  EXPECT_EQ(complete_tuning(facts, {}, "gemm", core_), (Tuning{{"tile_m", 64}, {"tile_n", 128}}));
  const Tuning smaller{{"tile_m", 32}, {"tile_n", 32}};
  EXPECT_EQ(complete_tuning(facts, smaller, "gemm", core_), smaller);
  EXPECT_EQ(find_unpaired(tunables, smaller), nullptr);
  EXPECT_ERROR((void)complete_tuning(facts, {{"tile_m", 32}}, "gemm", core_), ErrorCode::invalid_argument,
               "'tile_m' and 'tile_n'", "are 32 with 128", "32 with 32 and 64 with 128", "minimal:0");
  EXPECT_EQ(find_unpaired(tunables, {{"tile_n", 32}}), &tunables[1]) << "the other's preferred value counts";
  EXPECT_ERROR((void)complete_tuning(facts, {{"tile_n", 64}}, "gemm", core_), ErrorCode::invalid_argument, "'tile_n'",
               "32 and 128");
}

TEST_F(VariantChoiceTest, only_what_the_choice_can_fall_on_is_asked) {
  static int asked = 0;  // a plain function pointer captures nothing
  asked = 0;
  const auto refuses = [](const Gemm&, const backend::Device&) { return ++asked, Verdict::no("it is tired"); };
  const auto accepts = [](const Gemm&, const backend::Device&) { return ++asked, Verdict::yes(); };
  const backend::VariantList<Gemm> list{{"first", "", refuses, nullptr, nullptr},
                                        {"second", "", accepts, nullptr, nullptr},
                                        {"third", "", accepts, nullptr, nullptr}};
  const auto ask = [&](const KernelOptions& options) {
    asked = 0;
    return choose_variant(facts_of(list, Gemm{}, *device_.core(), {}, &options), options, "gemm", core_);
  };
  EXPECT_EQ(ask({}), 1U);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(ask({.variant = "third"}), 2U);
  EXPECT_EQ(asked, 1);
  EXPECT_ERROR((void)ask({.variant = "first"}), ErrorCode::unsupported, "it is tired");
  asked = 0;
  EXPECT_EQ(facts_of(list, Gemm{}, *device_.core()).size(), 3U);
  EXPECT_EQ(asked, 3);
}

TEST_F(VariantChoiceTest, the_next_is_asked_where_one_does_not_pay) {
  const auto yes = [](const Gemm&, const backend::Device&) { return Verdict::yes(); };
  const auto no = [](const Gemm&, const backend::Device&) { return Verdict::no("it is tired"); };
  backend::VariantList<Gemm> list{
      {"first", "", yes, nullptr, nullptr}, {"second", "", no, nullptr, nullptr}, {"third", "", yes, nullptr, nullptr}};
  list[0].pays = no;
  const KernelOptions options;
  EXPECT_EQ(choose_variant(facts_of(list, Gemm{}, *device_.core(), {}, &options), options, "gemm", core_), 2U);
}

TEST_F(VariantChoiceTest, reports_name_one_default) {
  const auto reports = report_variants(facts_, {}, "gemm", core_);
  ASSERT_EQ(reports.size(), 4U);
  EXPECT_EQ(reports[0].because, "it needs tensor cores");
  EXPECT_FALSE(reports[1].is_default);
  EXPECT_TRUE(reports[2].is_default);
  EXPECT_FALSE(reports[3].is_default);
}

}  // namespace
}  // namespace tessera::detail
