// Tuned values that were kept: kernels of the class use them, options and a switch pass them by, and a result that no
// search can have is refused.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "expect_error.h"
#include "tuning_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

class TuningFileTest : public TuningFolderTest {};

TEST_F(TuningFileTest, nothing_is_made_where_nothing_was_tuned) {
  EXPECT_EQ(chosen(), "naive");
  EXPECT_FALSE(row("naive").tuned.has_value());
  EXPECT_FALSE(fs::exists(root_));
  EXPECT_EQ(tuning_files().entries, 0U);
  EXPECT_EQ(tuning_files().results, file().string());
  EXPECT_TRUE(tuning_files().complaints.empty());
}

TEST_F(TuningFileTest, kernels_of_the_class_use_it_and_say_so) {
  remember_tuning(kTuned, device_, turned_is_faster());
  const auto kernel = device_.kernel(kTuned);
  EXPECT_EQ(kernel.info().variant, "turned");
  EXPECT_EQ(kernel.info().chosen_because, "it was tuned on this machine: " + file().string());
  EXPECT_EQ(chosen({.m = 120, .n = 91, .k = 128}), "turned") << "another size of the class";
  EXPECT_EQ(chosen({.m = 300, .n = 100, .k = 100}), "naive");
  EXPECT_EQ(chosen({.m = 100, .n = 100, .k = 100, .type = DataType::float64}), "naive");
  EXPECT_EQ(device_.kernel(Gemm{.m = 300, .n = 100, .k = 100}).info().chosen_because, "");

  const VariantReport turned = row("turned");
  EXPECT_TRUE(turned.is_default);
  EXPECT_FALSE(turned.is_shipped_default);
  ASSERT_TRUE(turned.tuned.has_value());
  EXPECT_EQ(turned.tuned->measured_s, 1e-3);
  EXPECT_EQ(turned.tuned->default_s, 2e-3);
  EXPECT_EQ(turned.tuned->problem, "m=100,n=100,k=100");
  EXPECT_EQ(turned.tuned->source, file().string());
  EXPECT_EQ(turned.tuned->because, "");
  EXPECT_EQ(turned.tuned->when.size(), std::string("2026-03-01T12:00:00Z").size());
  const VariantReport naive = row("naive");
  EXPECT_FALSE(naive.is_default);
  EXPECT_TRUE(naive.is_shipped_default);
  EXPECT_FALSE(naive.tuned.has_value());
}

TEST_F(TuningFileTest, options_and_the_switch_pass_it_by) {
  remember_tuning(kTuned, device_, turned_is_faster());
  EXPECT_EQ(chosen(kTuned, {.variant = "naive"}), "naive");
  EXPECT_ERROR((void)chosen(kTuned, {.tuning = {{"tile", 8}}}), ErrorCode::invalid_argument, "variant 'naive'");
  ::setenv("TESSERA_TUNING", "off", 1);
  EXPECT_EQ(chosen(), "naive");
  EXPECT_FALSE(row("turned").tuned.has_value());
  EXPECT_EQ(tuning_files().results, "");
  ::setenv("TESSERA_TUNING", "on", 1);
  EXPECT_EQ(chosen(), "turned");
  ::setenv("TESSERA_TUNING", "maybe", 1);
  EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, "$TESSERA_TUNING", "'maybe'", "on or off");
  ::unsetenv("TESSERA_TUNING");
  ::setenv("TESSERA_DATA_DIR", "relative", 1);
  EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, "$TESSERA_DATA_DIR", "'relative'", "absolute path");
}

TEST_F(TuningFileTest, a_search_that_found_nothing_faster_changes_nothing) {
  remember_tuning(kTuned, device_,
                  {.default_variant = "naive",
                   .default_s = 2e-3,
                   .problem = "",
                   .records = {{TuningVerdict::not_faster, "naive", {}, 2e-3, ""},
                               {TuningVerdict::wrong, "turned", {}, 0, "element 7 is 4, but must be 1"}}});
  EXPECT_EQ(chosen(), "naive");
  EXPECT_EQ(device_.kernel(kTuned).info().chosen_because, "");
  ASSERT_TRUE(row("naive").tuned.has_value());
  EXPECT_NE(row("naive").tuned->because.find("nothing that was tried is faster"), std::string::npos);
  ASSERT_EQ(row("turned").rejected.size(), 1U);
  EXPECT_EQ(row("turned").rejected[0], "without tunables is wrong: element 7 is 4, but must be 1");
  EXPECT_EQ(tuning_files().entries, 2U);

  remember_tuning(kTuned, device_, turned_is_faster());
  EXPECT_EQ(tuning_files().entries, 1U) << "a new search replaces all of the class";
  EXPECT_TRUE(row("turned").rejected.empty());
  EXPECT_EQ(chosen(), "turned");
}

TEST_F(TuningFileTest, a_measurement_overrules_only_the_default_that_it_beat) {
  remember_tuning(kTuned, device_, turned_is_faster("turned"));
  EXPECT_EQ(chosen(), "naive");
  EXPECT_EQ(row("turned").tuned->because, "it was faster than turned, but the default for this problem is naive");
}

TEST_F(TuningFileTest, results_that_no_search_can_have_are_refused) {
  const auto refuse = [&](const TuningResult& result, const std::string& why) {
    EXPECT_ERROR(remember_tuning(kTuned, device_, result), ErrorCode::invalid_argument, "the tuning result", why);
  };
  TuningResult result = turned_is_faster();
  result.records[0].measured_s = 0;
  refuse(result, "'turned' takes 0 s");
  result.records[0].measured_s = std::numeric_limits<double>::quiet_NaN();
  refuse(result, "finite");
  result = turned_is_faster();
  result.records[0].variant = "magic";
  refuse(result, "'magic'");
  result = turned_is_faster("magic");
  refuse(result, "'magic'");
  result = turned_is_faster();
  result.default_s = -1;
  refuse(result, "-1 s");
  result = turned_is_faster();
  result.records.push_back(result.records[0]);
  refuse(result, "more than one");
  result.records = {{TuningVerdict::wrong, "turned", {}, 0, ""}};
  refuse(result, "without a sentence");
  result.records = {{TuningVerdict::wrong, "turned", {}, 1e-3, "element 7 is 4"}};
  refuse(result, "its time does not suit its verdict");
  result = turned_is_faster();
  result.records[0].because = "it is right";
  refuse(result, "'because' does not suit its verdict");
  result = turned_is_faster();
  result.records[0].tuning = {{"tile", 8}};
  EXPECT_ERROR(remember_tuning(kTuned, device_, result), ErrorCode::invalid_argument, "'tile'");
  EXPECT_ERROR(remember_tuning(Gemm{.m = -1}, device_, turned_is_faster()), ErrorCode::invalid_argument, "m of gemm");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(TuningFileTest, the_results_are_the_same) {
  constexpr Gemm kSmall{.m = 3, .n = 5, .k = 7};
  std::vector<float> a(21);
  std::vector<float> b(35);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 5);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 3) - 1;
  const auto product = [&] {
    Queue queue(device_);
    const auto c = device_.allocate<float>(15);
    queue.run(device_.kernel(kSmall), {.a = device_.upload<float>(a), .b = device_.upload<float>(b), .c = c});
    std::vector<float> host(15);
    queue.download(c, std::span<float>(host));
    queue.finish();
    return host;
  };
  const std::vector<float> before = product();
  remember_tuning(kSmall, device_, turned_is_faster());
  ASSERT_EQ(chosen(kSmall), "turned");
  EXPECT_EQ(product(), before) << "whole numbers: exact in any order";
}

}  // namespace
}  // namespace tessera
