// The first use of the library in a process, while one request for memory after the other fails: it is right or ends
// with tessera::Error, and the second use is right, as if nothing had been. Each in a process of its own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <string>

#include <tessera/tessera.h>

#include "support/allocation_faults.h"
#include "support/one_of.h"

namespace tessera::fault {
namespace {

constexpr int kRight = 0;
constexpr int kError = 10;
constexpr int kForeign = 11;
constexpr int kNotRecovered = 12;
constexpr int kNothingFailed = 13;

bool use(const std::string& name) {
  const Device device = open(name);
  Queue queue(device);
  const auto ones = device.upload<float>(std::vector<float>(100, 1.0F));
  return queue.download(ones).get() == std::vector<float>(100, 1.0F);
}

/// What came of the first use with request `k` failing, as an exit status. To be called in a fresh process.
int outcome_of(const std::string& name, std::uint64_t k) {
  int first = kRight;
  std::string story;
  arm_allocations(k);
  try {
    first = use(name) ? kRight : kForeign;
  } catch (const Error& error) {
    disarm_allocations();
    story = error.what();
    first = kError;
  } catch (const std::bad_alloc&) {
    first = failed_within_library() ? kForeign : kError;
    story = "std::bad_alloc";
  } catch (...) {
    first = kForeign;
  }
  const std::uint64_t requests = disarm_allocations();
  if (first == kForeign) std::fprintf(stderr, "request %d: %s\n", static_cast<int>(k), story.c_str());
  if (first == kForeign) return first;
  try {
    if (!use(name)) return kNotRecovered;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "after request %d, which gave '%s': %s\n", static_cast<int>(k), story.c_str(), error.what());
    return kNotRecovered;
  }
  return k > requests ? kNothingFailed : first;
}

TEST(FirstUseTest, each_request_for_memory) {
  const int stride = testing_support::one_of();
  int all_errors = 0;
  for (const char* name : {"cpu:0", "cpu:1"}) {
    int last = kRight;
    int errors = 0;
    std::uint64_t k = 1;
    for (; last != kNothingFailed; k += stride) {
      std::fflush(nullptr);
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        alarm(20);
        _exit(outcome_of(name, k));
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status)) << name << ", request " << k << ": ended by signal " << WTERMSIG(status);
      last = WEXITSTATUS(status);
      ASSERT_NE(last, kForeign) << name << ", request " << k;
      ASSERT_NE(last, kNotRecovered) << name << ", request " << k;
      errors += last == kError ? 1 : 0;
    }
    EXPECT_GT(k, 100U);
    // Threads that start make most of the requests, and oneTBB does without what they asked for: of 700 to 900 requests
    // 46 to 88 end in an Error, as the threads' order has it. Far fewer would mean that nothing fails any more. Of a
    // share of them only both devices' together are enough to say so.
    if (stride == 1) {
      EXPECT_GT(errors, 20) << name << " after " << k << " requests";
    }
    all_errors += errors;
  }
  EXPECT_GT(all_errors * stride, 20);
}

}  // namespace
}  // namespace tessera::fault
