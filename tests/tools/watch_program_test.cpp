// The log and the trace as a user of the program gets them: what stands on which stream, what is in the file, and what
// comes of a wrong word and of a file that cannot be written.
#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "program_run.h"

namespace {

using Json = nlohmann::json;
using tessera::testing_support::Outcome;
using WatchProgramTest = tessera::testing_support::ProgramOnCpuTest;

constexpr const char* kVerify = "verify gemm --device cpu:0 --variant naive --problem m=5,n=3,k=2 ";

std::ptrdiff_t spans_of(const Json& trace, const std::string& category) {
  return std::count_if(trace.begin(), trace.end(),
                       [&](const Json& event) { return event.value("cat", "") == category; });
}

TEST_F(WatchProgramTest, a_trace_has_the_kernels_wherever_the_option_stands) {
  for (const std::string& arguments :
       {std::string(kVerify) + "--trace trace.json", "--trace trace.json " + std::string(kVerify)}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_output << outcome.standard_error;
    EXPECT_EQ(outcome.standard_error, "");
    const Json trace = Json::parse(scratch.read("trace.json"));
    EXPECT_GE(spans_of(trace, "kernel"), 1) << trace;
    EXPECT_GE(spans_of(trace, "copy"), 3) << "two operands and the result\n" << trace;
    const auto kernel =
        std::find_if(trace.begin(), trace.end(), [](const Json& event) { return event.value("cat", "") == "kernel"; });
    ASSERT_NE(kernel, trace.end());
    EXPECT_EQ(kernel->at("args").at("operator"), "gemm");
    EXPECT_EQ(kernel->at("args").at("variant"), "naive");
    EXPECT_TRUE(kernel->at("args").at("problem").get<std::string>().starts_with("m=5,n=3,k=2"));
  }
}

TEST_F(WatchProgramTest, the_variable_of_the_trace_does_the_same_and_the_option_goes_first) {
  EXPECT_EQ(run(kVerify, "TESSERA_TRACE=by_variable.json").exit_code, 0);
  EXPECT_GE(spans_of(Json::parse(scratch.read("by_variable.json")), "kernel"), 1);
  EXPECT_EQ(run(std::string(kVerify) + "--trace by_option.json", "TESSERA_TRACE=unused.json").exit_code, 0);
  EXPECT_GE(spans_of(Json::parse(scratch.read("by_option.json")), "kernel"), 1);
  EXPECT_FALSE(scratch.names().contains("unused.json"));
}

TEST_F(WatchProgramTest, a_trace_that_cannot_be_written_is_told_before_any_work) {
  for (const auto& [arguments, variables] : {std::pair{std::string(kVerify) + "--trace /no/such/folder/t.json", ""},
                                             std::pair{std::string(kVerify) + "--trace /dev/null", ""},
                                             std::pair{std::string("devices"), "TESSERA_TRACE=/no/such/t.json"}}) {
    const Outcome outcome = run(arguments, variables);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.standard_output, "");
    EXPECT_EQ(std::count(outcome.standard_error.begin(), outcome.standard_error.end(), '\n'), 1)
        << outcome.standard_error;
    EXPECT_NE(outcome.standard_error.find("cannot be written"), std::string::npos) << outcome.standard_error;
  }
}

TEST_F(WatchProgramTest, a_trace_that_fills_the_disk_is_told_at_the_end) {
  const Outcome outcome = run_line(scratch,
                                   "trap '' XFSZ; ulimit -f 1; \"$tessera\" verify gemm --device cpu:0 --variant naive "
                                   "--problem m=1:20,n=3,k=2 --trace trace.json >/dev/null");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.standard_output;
  EXPECT_NE(outcome.standard_error.find("cannot be written: File too large"), std::string::npos)
      << outcome.standard_error;
  EXPECT_TRUE(Json::parse(scratch.read("trace.json")).is_array());
}

TEST_F(WatchProgramTest, an_interrupted_run_leaves_a_whole_trace) {
  const Outcome outcome = run_line(scratch,
                                   "timeout -s INT 2 \"$tessera\" bench gemm --device cpu:0 --variant naive --problem "
                                   "m=256,n=256,k=256 --min-time 30 --trace trace.json");
  const Json trace = Json::parse(scratch.read("trace.json"));
  EXPECT_GE(spans_of(trace, "kernel"), 1) << outcome.standard_error;
}

TEST_F(WatchProgramTest, the_log_stands_on_standard_error) {
  const Outcome outcome = run("explain gemm --device cpu:0 --problem m=5,n=3,k=2", "TESSERA_LOG=choice,compile");
  EXPECT_EQ(outcome.exit_code, 0);
  const Outcome verified = run(kVerify, "TESSERA_LOG=choice");
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_TRUE(verified.standard_error.starts_with("tessera choice: gemm")) << verified.standard_error;
  EXPECT_EQ(verified.standard_output.find("tessera choice"), std::string::npos);
}

TEST_F(WatchProgramTest, a_word_that_is_no_kind_of_event_is_told) {
  const Outcome outcome = run("devices", "TESSERA_LOG=choice,colour");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.standard_output, "");
  EXPECT_EQ(
      outcome.standard_error,
      "tessera: invalid_argument: $TESSERA_LOG asks for 'colour', but the words are choice, compile, copy, memory "
      "and all, with commas between\n");
}

}  // namespace
