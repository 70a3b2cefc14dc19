// `tessera bench --random` as a user runs it.
#include <string>

#include <nlohmann/json.hpp>

#include "json_schema.h"
#include "program_run.h"

namespace {

using Json = nlohmann::json;
using tessera::testing_support::difference_from_schema;
using tessera::testing_support::Outcome;
using tessera::testing_support::result_schema;
using RandomProgramTest = tessera::testing_support::ProgramOnCpuTest;

constexpr const char* kShort = " --most-work 0.001 --min-time 0 --warm-up 0 --repeat 2 ";

TEST_F(RandomProgramTest, measures_defaults_beside_all_others_on_every_device) {
  const bool has_opencl = run("devices").standard_output.find("opencl:0") != std::string::npos;
  const std::string devices = has_opencl ? "cpu:0,opencl:0" : "cpu:0";
  const Outcome outcome =
      run("bench gemm --random 2 --seed 9 --class tiny,batch --device " + devices + kShort + "--json random.json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error << outcome.standard_output;
  EXPECT_NE(outcome.standard_output.find("gemm on cpu:0: the default's speed"), std::string::npos);
  const Json json = Json::parse(scratch.read("random.json"));
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
  ASSERT_EQ(json.at("random").size(), has_opencl ? 4U : 2U) << "each class on each device";
  for (const Json& group : json.at("random")) {
    EXPECT_EQ(group.at("seed"), 9);
    EXPECT_EQ(group.at("problems").size(), 2U) << group;
    for (const Json& problem : group.at("problems")) {
      EXPECT_GT(problem.at("over_own"), 0);
      EXPECT_LE(problem.at("over_own"), 1);
      EXPECT_LE(problem.at("over_all"), problem.at("over_own"));
    }
  }
  std::size_t defaults = 0;
  for (const Json& record : json.at("records")) {
    EXPECT_NE(record.at("status"), "failed") << record;
    EXPECT_TRUE(record.at("class") == "tiny" || record.at("class") == "batch") << record;
    if (record.at("is_default")) ++defaults;
  }
  EXPECT_EQ(defaults, has_opencl ? 8U : 4U);

  const Outcome page = run("report random.json -o random.html");
  ASSERT_EQ(page.exit_code, 0) << page.standard_error;
  EXPECT_NE(scratch.read("random.html").find("gemm on cpu:0: random problems"), std::string::npos);
}

TEST_F(RandomProgramTest, an_interrupt_keeps_what_is_measured_and_leaves_no_process) {
  const Outcome outcome = run_line(
      scratch,
      "MARK_OF_TEST=\"$PWD\" timeout -s INT 6 \"$tessera\" bench gemm --random 10000 --class tiny --device cpu:0 "
      "--warm-up 0 --min-time 0.01 --json kept.json >table; code=$?; sleep 0.5; "
      "grep -lzs \"^MARK_OF_TEST=$PWD\" /proc/[0-9]*/environ; exit $code");
  EXPECT_EQ(outcome.exit_code, 124) << "timeout says that it had to end it";
  EXPECT_EQ(outcome.standard_output, "") << "processes that are left";
  const Json json = Json::parse(scratch.read("kept.json"));
  EXPECT_EQ(difference_from_schema(json, result_schema()), "");
  EXPECT_EQ(json.at("interrupted"), true);
  ASSERT_FALSE(json.at("random").empty());
  EXPECT_GE(json.at("random").at(0).at("problems").size(), 1U);
}

TEST_F(RandomProgramTest, refuses_what_it_cannot_do) {
  const Outcome unknown = run("bench gemm --random 1 --class sideways --device cpu:0");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.standard_error.find("there is no class 'sideways' of gemm, there are: vectors, transposed"),
            std::string::npos)
      << unknown.standard_error;
  EXPECT_EQ(run("bench gemm --class odd").exit_code, 2) << "classes need --random";
  EXPECT_EQ(run("bench gemm --seed 3").exit_code, 2);
  EXPECT_EQ(run("bench gemm --random 0").exit_code, 2);
  EXPECT_EQ(run("bench gemm --random 1 --variant naive").exit_code, 2);
  EXPECT_EQ(run("bench gemm --random 1 --study").exit_code, 2);
  EXPECT_EQ(run("bench all --random 1 --class odd").exit_code, 2) << "classes are one operator's";
}

}  // namespace
