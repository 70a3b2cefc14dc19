// The list of studies: their parts and cases; and what gemm's predicts from.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "tools/study/gemm_prediction.h"
#include "tools/study/study.h"

namespace tessera::tool {
namespace {

TEST(GemmPredictionTest, counts_what_threads_ask_memory_for) {
  EXPECT_EQ(gemm_reads_per_product("naive", {{"block_columns", 32}, {"block_rows", 8}}), 2);
  EXPECT_EQ(gemm_reads_per_product("coalesced_a", {{"tile", 16}}), 1 + 1.0 / 16);
  EXPECT_EQ(gemm_reads_per_product("tiled", {{"tile", 32}}), 2.0 / 32);
  EXPECT_EQ(gemm_reads_per_product("register", {{"tile_m", 64}, {"tile_n", 128}, {"split_k", 1}}),
            1.0 / 64 + 1.0 / 128);
  EXPECT_EQ(gemm_reads_per_product("register_local", {{"tile_m", 128}, {"tile_n", 64}}), 1.0 / 128 + 1.0 / 64);
  EXPECT_EQ(gemm_reads_per_product("split", {{"tile_m", 256}, {"tile_n", 128}}), 1.0 / 256 + 1.0 / 128);
  EXPECT_EQ(gemm_reads_per_product("split_mma", {{"tile_m", 128}, {"tile_n", 128}}), 2.0 / 128);
  EXPECT_EQ(gemm_reads_per_product("scaled_half_mma", {{"tile_m", 128}, {"tile_n", 128}}), std::nullopt);
  EXPECT_EQ(gemm_reads_per_product("scaled_half", {{"tile_m", 256}, {"tile_n", 128}}), std::nullopt)
      << "its operands are prepared as halves, not in their own type";
  EXPECT_EQ(gemm_reads_per_product("register", {}), std::nullopt) << "its tiles are not told";
  EXPECT_EQ(gemm_reads_per_product("vendor_cublas", {}), std::nullopt);
}

TEST(StudiesTest, name_the_parts_that_their_cases_have) {
  for (const Study& study : studies()) {
    std::set<std::string_view> named(study.parts.begin(), study.parts.end());
    named.insert(study.parts_on_request.begin(), study.parts_on_request.end());
    EXPECT_EQ(named.size(), study.parts.size() + study.parts_on_request.size()) << study.operator_name;
    for (const conformance::Purpose purpose : {conformance::Purpose::study, conformance::Purpose::quick_study}) {
      std::set<std::string_view> found;
      for (const conformance::ProblemSet& set : conformance::problem_sets()) {
        if (set.operator_name != study.operator_name) continue;
        for (const auto& problem : set.cases) {
          if (problem->purpose() == purpose) found.insert(problem->part());
        }
      }
      EXPECT_EQ(found, named) << study.operator_name;
    }
  }
}

TEST(StudiesTest, name_their_cases_apart) {
  for (const Study& study : studies()) {
    for (const conformance::ProblemSet& set : conformance::problem_sets()) {
      if (set.operator_name != study.operator_name) continue;
      std::set<std::tuple<conformance::Purpose, std::string_view, std::string>> labels;
      for (const auto& problem : set.cases) {
        if (problem->part().empty()) continue;
        EXPECT_TRUE(labels.insert({problem->purpose(), problem->part(), study.label(*problem)}).second)
            << problem->name() << " is one of two called " << study.label(*problem);
      }
    }
  }
}

TEST(StudiesTest, have_cases_for_both_purposes) {
  for (const Study& study : studies()) {
    bool found = false;
    for (const conformance::ProblemSet& set : conformance::problem_sets()) {
      if (set.operator_name != study.operator_name) continue;
      found = true;
      for (const conformance::Purpose purpose : {conformance::Purpose::study, conformance::Purpose::quick_study}) {
        EXPECT_TRUE(std::any_of(set.cases.begin(), set.cases.end(), [&](const auto& problem) {
          return problem->purpose() == purpose && !problem->part().empty();
        })) << study.operator_name;
      }
    }
    EXPECT_TRUE(found) << "there is no operator " << study.operator_name;
  }
}

}  // namespace
}  // namespace tessera::tool
