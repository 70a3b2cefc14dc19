// Every driver call fails in turn: the k-th call of a pass over the whole API, once or from there on, with each code
// that a driver may answer with. Each pass ends right or with tessera::Error, the next one is right, and nothing is
// left alive.
//
//   TESSERA_TEST_FAULT_STRIDE   every which call; 1 for all, 15 minutes; without it a choice of four minutes
//   TESSERA_TEST_FAULT_FIRST    the first of them, 1 if not set: to look at one alone
#include <gtest/gtest.h>

#include <CL/cl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "opencl/faulty_driver.h"
#include "scenario.h"
#include "support/child_process.h"

namespace tessera::fault {
namespace {

constexpr const char* kDevice = "opencl:0";
/// A pass takes 25 ms; with what is asked again, and a sanitizer, a second.
constexpr auto kLongestPass = std::chrono::seconds(20);
constexpr unsigned kHangSeconds = 60;

extern "C" void tell_where_it_hangs(int) {
  const char text[] = "FAILED: the pass behind the last line of this output hangs\n";
  static_cast<void>(!write(STDOUT_FILENO, text, sizeof(text) - 1));
  _exit(1);
}

long from_environment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

struct Fault {
  const char* name;
  int code;
  bool for_good;
  long stride;  ///< what CI can afford
};

class OpenclSweepTest : public testing::TestWithParam<Fault> {
 protected:
  static void SetUpTestSuite() {
    std::signal(SIGALRM, tell_where_it_hangs);
    // Compiles what is not in the caches yet, and counts.
    const ScenarioReport report = run_scenario(kDevice);
    ASSERT_TRUE(report.is_right()) << report.text();
    ASSERT_EQ(alive_text(), "") << "a pass without a fault leaves objects";
    faulty_driver().clear();
    ASSERT_TRUE(run_scenario(kDevice).is_right());
    calls_of_pass = faulty_driver().calls();
    ASSERT_GT(calls_of_pass, 300);
    std::printf("%ld calls a pass\n", calls_of_pass);
  }

  static long calls_of_pass;
};
long OpenclSweepTest::calls_of_pass = 0;

/// Nothing alive, but what a queue uses that the driver never said to be done.
void expect_nothing_alive(const std::string& place) {
  if (faulty_driver().unconfirmed_queues() > 0) return;
  EXPECT_EQ(alive_text(), "") << place;
}

TEST_P(OpenclSweepTest, every_call) {
  const Fault fault = GetParam();
  const long stride = from_environment("TESSERA_TEST_FAULT_STRIDE", fault.stride);
  long passes_with_errors = 0;
  // As far as a pass goes, whose number of calls varies with how often a queue is asked how far it is.
  for (long call = from_environment("TESSERA_TEST_FAULT_FIRST", 1);; call += stride) {
    alarm(kHangSeconds);
    std::printf("\r%s, call %ld of %ld", fault.name, call, calls_of_pass);
    std::fflush(stdout);
    const auto start = std::chrono::steady_clock::now();
    faulty_driver().fail_call(call, fault.code, fault.for_good);
    const ScenarioReport report = run_scenario(kDevice);
    const std::string place =
        "call " + std::to_string(call) + " (" + faulty_driver().last_failed() + "), " + fault.name + ", ";
    const auto failures = faulty_driver().failures();
    faulty_driver().clear();
    if (failures == 0) {
      EXPECT_GT(call, calls_of_pass / 2) << "a pass has ended early";
      EXPECT_TRUE(report.is_right()) << report.text();
      break;
    }
    EXPECT_TRUE(report.is_honest()) << place << report.text();
    passes_with_errors += report.errors.empty() ? 0 : 1;
    expect_nothing_alive(place + "after the pass: " + report.text());
    const ScenarioReport again = run_scenario(kDevice);
    EXPECT_TRUE(again.is_right()) << place << "in the next pass: " << again.text();
    expect_nothing_alive(place + "after the next pass");
    EXPECT_LT(std::chrono::steady_clock::now() - start, kLongestPass) << place;
    alarm(0);
    if (HasFailure() && testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() > 30) {
      FAIL() << "no more is looked at after call " << call;
    }
  }
  std::puts("");
  EXPECT_GT(passes_with_errors, 0) << "no fault was felt";
}

INSTANTIATE_TEST_SUITE_P(faults, OpenclSweepTest,
                         testing::Values(Fault{"host_memory_once", CL_OUT_OF_HOST_MEMORY, false, 7},
                                         Fault{"host_memory_for_good", CL_OUT_OF_HOST_MEMORY, true, 41},
                                         Fault{"resources_once", CL_OUT_OF_RESOURCES, false, 11},
                                         Fault{"resources_for_good", CL_OUT_OF_RESOURCES, true, 43},
                                         Fault{"device_memory_once", CL_MEM_OBJECT_ALLOCATION_FAILURE, false, 13},
                                         Fault{"invalid_operation_once", CL_INVALID_OPERATION, false, 11},
                                         Fault{"invalid_operation_for_good", CL_INVALID_OPERATION, true, 11}),
                         [](const testing::TestParamInfo<Fault>& fault) { return std::string(fault.param.name); });

/// What happens while the backend is looked for, which is once a process: in a process for each call.
TEST(OpenclProbeSweepTest, every_call) {
  const auto states = [](const std::string& fault) {
    return testing_support::run_child(testing_support::this_program(), {"--probe"}, {{kOpenclFaultsVariable, fault}});
  };
  const testing_support::ChildResult whole = states("");
  ASSERT_EQ(whole.status, 0) << whole.output;
  const long calls = std::strtol(whole.output.c_str(), nullptr, 10);
  ASSERT_GT(calls, 20) << whole.output;
  const long stride = from_environment("TESSERA_TEST_FAULT_STRIDE", 3);
  for (long call = 1; call <= calls; call += stride) {
    const std::string number = std::to_string(call);
    const auto once = states(number + ":" + std::to_string(CL_OUT_OF_HOST_MEMORY));
    EXPECT_EQ(once.status, 0) << "a passing shortage at call " << call << " hides the backend: " << once.output;
    const auto for_good = states(number + ":" + std::to_string(CL_OUT_OF_HOST_MEMORY) + ":for_good");
    EXPECT_TRUE(for_good.status == 0 || for_good.status == 3) << "call " << call << ": " << for_good.output;
  }
}

}  // namespace
}  // namespace tessera::fault
