// Problems as a command line describes them: what the words mean, and that every operator can be described.
#include "tools/typed_problems.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "tools/process/usage_error.h"

namespace tessera::tool {
namespace {

using conformance::Case;
using conformance::Field;
using conformance::ProblemSet;
using conformance::ProblemWords;
using conformance::Purpose;

std::string text_of(const std::vector<ProblemWords>& problems) {
  std::string text;
  for (const ProblemWords& words : problems) {
    for (const auto& [name, value] : words) text += name + value + " ";
    text += "; ";
  }
  return text;
}

std::string complaint_about(const std::string& problem) {
  try {
    (void)parse_problem(problem);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TypedProblemsTest, lists_and_ranges_give_every_combination) {
  EXPECT_EQ(text_of(parse_problem("m=1,n=2")), "m1 n2 ; ");
  EXPECT_EQ(text_of(parse_problem("m=1,2,type=float32,float64")),
            "m1 typefloat32 ; m1 typefloat64 ; m2 typefloat32 ; m2 typefloat64 ; ");
  EXPECT_EQ(text_of(parse_problem("m=256:4096:*2")), "m256 ; m512 ; m1024 ; m2048 ; m4096 ; ");
  EXPECT_EQ(text_of(parse_problem("m=16:50:16,3")), "m16 ; m32 ; m48 ; m3 ; ");
  EXPECT_EQ(text_of(parse_problem("m=-1:1")), "m-1 ; m0 ; m1 ; ");
  EXPECT_EQ(text_of(parse_problem("m=5:5")), "m5 ; ");
  EXPECT_EQ(text_of(parse_problem("m=4000000000000000000:9223372036854775807:*2")),
            "m4000000000000000000 ; m8000000000000000000 ; ")
      << "ends where the next value would pass 64 bits";
}

TEST(TypedProblemsTest, what_is_not_written_so_is_refused) {
  for (const char* problem : {"", "m", "=1", "m=", "m=1,", "1", ",m=1", "m=1,,2"}) {
    EXPECT_NE(complaint_about(problem).find("must be fields and values"), std::string::npos) << problem;
  }
  for (const char* problem : {"m=1:", "m=:4", "m=4:1", "m=1:4:0", "m=1:4:*1", "m=0:4:*2", "m=1:4:-1", "m=1:2:3:4",
                              "m=a:b", "m=1:4:*", "m=1:99999999999999999999"}) {
    EXPECT_NE(complaint_about(problem).find("a range must be written"), std::string::npos) << problem;
  }
  EXPECT_NE(complaint_about("m=1:1000000").find("more than 10000"), std::string::npos);
  EXPECT_NE(complaint_about("m=1:1000,n=1:1000").find("more than 10000"), std::string::npos);
}

std::string complaint_of_problem(const std::string& operator_name, const std::string& problem) {
  try {
    SelectedProblems({.operator_name = operator_name, .problems = {problem}});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TypedProblemsTest, words_of_an_operator_are_held_to_its_fields) {
  EXPECT_EQ(complaint_of_problem("gemm", "m=1,n=2,k=3"), "");
  EXPECT_EQ(complaint_of_problem("gemm", "m=1,n=2"), "the problem of gemm lacks k, which must be given: k=...");
  EXPECT_EQ(complaint_of_problem("gemm", "m=1,n=2,k=3,m=4"), "the problem of gemm names m twice");
  EXPECT_EQ(complaint_of_problem("gemm", "m=1.5,n=2,k=3"), "m of gemm is '1.5', but must be an integer of 64 bits");
  EXPECT_EQ(complaint_of_problem("gemm", "m=1,n=2,k=3,alpha=x"), "alpha of gemm is 'x', but must be a number");
  EXPECT_EQ(complaint_of_problem("gemm", "m=1,n=2,k=3,transpose_a=2"),
            "transpose_a of gemm is '2', but must be one of 0, 1, false, true");
  EXPECT_EQ(complaint_of_problem("conv2d", "height=1,width=2,filter_height=1,filter_width=1,border=same,filter=box"),
            "filter of conv2d is 'box', but must be one of random, rank1");
  EXPECT_TRUE(
      complaint_of_problem("gemm", "m=1,n=2,q=3").starts_with("the problem of gemm has no field 'q', but m, n"));
  EXPECT_NE(complaint_of_problem("all", "m=1"), "");
}

/// A case's fields as --problem takes them.
ProblemWords words_of(const Case& problem) {
  ProblemWords words{{"type", std::string(to_string(problem.type()))}};
  for (const Field& field : problem.problem()) {
    words.emplace_back(field.name, std::visit([](const auto& value) { return fmt::format("{}", value); }, field.value));
  }
  return words;
}

TEST(TypedProblemsTest, every_case_that_a_record_describes_can_be_typed) {
  for (const ProblemSet& set : conformance::problem_sets()) {
    ASSERT_NE(set.make_case, nullptr) << set.operator_name;
    int typed = 0;
    for (const auto& problem : set.cases) {
      if (problem->purpose() == Purpose::slow) continue;
      const std::unique_ptr<Case> again = set.make_case(words_of(*problem));
      EXPECT_EQ(words_of(*problem), words_of(*again)) << problem->name();
      EXPECT_EQ(problem->work().flops, again->work().flops) << problem->name();
      EXPECT_EQ(again->purpose(), Purpose::benchmark);
      ++typed;
    }
    EXPECT_GT(typed, 0) << set.operator_name;
  }
}

}  // namespace
}  // namespace tessera::tool
