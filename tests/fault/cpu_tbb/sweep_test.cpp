// One pass over the whole API on each CPU device, again and again, while one request for memory after the other fails,
// and one start of a thread after the other: each pass ends right or with tessera::Error, the next one is right, and
// nothing stays behind.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "plugin_hook.h"
#include "scenario.h"
#include "support/allocation_faults.h"

namespace tessera::fault {
namespace {

using cpu_tbb::Refusable;

// A pass takes some milliseconds, and makes thousands of requests, each of which must fail once. So `ctest` runs this
// program several times at once, each with a share of the requests.
const std::uint64_t kShares = std::strtoull(std::getenv("TESSERA_FAULT_SHARES"), nullptr, 10);
const std::uint64_t kShare = std::strtoull(std::getenv("TESSERA_FAULT_SHARE"), nullptr, 10);

std::atomic<std::uint64_t> threads_asked{0};
std::atomic<std::uint64_t> failing_thread{0};

bool refuses(Refusable what) noexcept {
  if (what == Refusable::memory) return next_request_fails();
  return ++threads_asked == failing_thread;
}

/// Tells the plug-in, which is loaded by then, to ask refuses().
void set_hook() {
  const std::string plugin = std::string(TESSERA_FAULT_PLUGINS) + "/libtessera_cpu_tbb.so";
  void* const library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << "the plug-in with the hook is not the one that is in use";
  using SetHook = void (*)(Refuses);
  const auto set = reinterpret_cast<SetHook>(dlsym(library, kSetHookSymbol));
  ASSERT_NE(set, nullptr);
  set(refuses);
  dlclose(library);
}

/// A pass with the fault that is armed, which ends at the first failure.
ScenarioReport faulty_pass(const std::string& device) {
  ScenarioReport report;
  try {
    report = run_scenario(device, {.on_failure = [] { disarm_allocations(); }});
  } catch (const std::bad_alloc&) {
    report.exhausted.emplace_back("the scenario itself");
  }
  disarm_allocations();
  if (!failed_within_library()) report.exhausted.clear();  // an allocation of the test program itself failed
  return report;
}

class CpuSweepTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const ScenarioReport first = run_scenario(GetParam());
    ASSERT_TRUE(first.is_right()) << first.text();
    set_hook();
  }
  void expect_honest_and_recovered(const ScenarioReport& report, const std::string& fault) const {
    EXPECT_TRUE(report.is_honest()) << fault << ": " << report.text();
    const ScenarioReport next = run_scenario(GetParam());
    EXPECT_TRUE(next.is_right()) << "after " << fault << ": " << next.text();
  }
};
INSTANTIATE_TEST_SUITE_P(api, CpuSweepTest, testing::Values("cpu:0", "cpu:1"),
                         [](const auto& test) { return test.param.substr(0, 3) + "_" + test.param.substr(4, 1); });

TEST_P(CpuSweepTest, each_request_for_memory) {
  arm_allocations(0);
  ASSERT_TRUE(run_scenario(GetParam()).is_right());
  const std::uint64_t requests = disarm_allocations();
  ASSERT_GT(requests, 100U);
  std::uint64_t told = 0;
  for (std::uint64_t k = 1 + kShare; k <= requests && !HasFailure(); k += kShares) {
    arm_allocations(k);
    const ScenarioReport report = faulty_pass(GetParam());
    told += report.errors.size();
    expect_honest_and_recovered(report, "request " + std::to_string(k) + " of " + std::to_string(requests));
  }
  EXPECT_GT(told, 0U);
}

TEST_P(CpuSweepTest, memory_that_is_gone_from_some_request_on) {
  arm_allocations(0);
  ASSERT_TRUE(run_scenario(GetParam()).is_right());
  const std::uint64_t requests = disarm_allocations();
  for (std::uint64_t k = 1 + 3 * kShare; k <= requests && !HasFailure(); k += 3 * kShares) {
    arm_allocations(k, Whose::everybody, true);
    expect_honest_and_recovered(faulty_pass(GetParam()), "all requests from " + std::to_string(k));
  }
}

TEST_P(CpuSweepTest, each_start_of_a_thread) {
  if (kShare != 0) GTEST_SKIP() << "they are few, and share 0 has them";
  threads_asked = 0;
  failing_thread = 0;
  ASSERT_TRUE(run_scenario(GetParam()).is_right());
  const std::uint64_t starts = threads_asked;
  ASSERT_GT(starts, 1U);
  for (std::uint64_t k = 1; k <= starts && !HasFailure(); ++k) {
    threads_asked = 0;
    failing_thread = k;
    const ScenarioReport report = run_scenario(GetParam());
    failing_thread = 0;
    EXPECT_FALSE(report.errors.empty()) << k;
    for (const std::string& error : report.errors) EXPECT_NE(error.find("unavailable"), std::string::npos) << error;
    expect_honest_and_recovered(report, "start " + std::to_string(k));
  }
}

TEST_P(CpuSweepTest, nothing_stays_behind) {
  if (kShare != 0) GTEST_SKIP() << "share 0 looks";
  const auto live_after = [&](std::uint64_t k) {
    arm_allocations(k);
    static_cast<void>(faulty_pass(GetParam()));
    static_cast<void>(run_scenario(GetParam()));
    return live_allocations();
  };
  const std::int64_t before = live_after(0);
  for (std::uint64_t k = 5; k < 300; k += 37) static_cast<void>(live_after(k));
  const std::int64_t after = live_after(0);
  // The scenario keeps blocks for each pass until the process ends: a queue that cannot be drained may use them so
  // long.
  constexpr std::int64_t kOfScenario = 2 * 10 * 2;
  EXPECT_LE(after, before + kOfScenario);
}

}  // namespace
}  // namespace tessera::fault
