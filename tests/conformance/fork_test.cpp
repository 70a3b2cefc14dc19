// fork() after a device was opened, on every device: in the child each use is an error that says so, nothing hangs, and
// the child ends however it likes. The parent goes on. Each in a process of its own, because what a driver does with
// its threads in a child is its own affair and must not reach other tests.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "each_device.h"
#include "support/child_process.h"
#include "support/forked_child.h"

namespace tessera::testing_support {
namespace {

class ForkTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(ForkTest);

ChildResult run_in_a_process(const char* test, const std::string& device) {
  return run_child(this_program(),
                   {"--gtest_also_run_disabled_tests",
                    "--gtest_filter=api/ForkTest.DISABLED_" + std::string(test) + "/" + name_for_tests(device)},
                   // A child that exits leaves to the system what its parent had opened: no leak of ours.
                   {{"TESSERA_REQUIRE", ""}, {"ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1"}});
}

TEST_P(ForkTest, a_child_gets_errors_and_ends) {
  const ChildResult child = run_in_a_process("uses_what_the_parent_opened", GetParam());
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_TRUE(contains(child.output, "[  PASSED  ] 1 test"));
}

TEST_P(ForkTest, a_child_that_exits_ends) {
  const ChildResult child = run_in_a_process("exits", GetParam());
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_TRUE(contains(child.output, "[  PASSED  ] 1 test"));
}

/// Run by the tests above alone.
TEST_P(ForkTest, DISABLED_uses_what_the_parent_opened) {
  auto device = std::make_optional(open(GetParam()));
  auto queue = std::make_optional<Queue>(*device);
  auto buffer = device->upload<float>(std::vector<float>(4096, 1.0F));
  auto pinned = device->allocate_pinned<float>(16);
  auto product = device->allocate<float>(4096);
  auto kernel = std::make_optional(device->kernel(Gemm{.m = 64, .n = 64, .k = 64}));
  queue->run(*kernel, {.a = buffer, .b = buffer, .c = product});
  queue->finish();  // as below: no thread starts while the process forks
  queue->run(*kernel, {.a = buffer, .b = buffer, .c = product});
  auto event = std::make_optional(queue->record());
  const int status = status_of_fork([&] {
    int wrong = 0;
    wrong += says_fork([&] { queue->fill(buffer, 3.0F); }) ? 0 : 1;
    wrong += says_fork([&] { queue->finish(); }) ? 0 : 2;
    wrong += says_fork([&] { event->wait(); }) ? 0 : 4;
    wrong += says_fork([&] { (void)device->allocate<float>(1); }) ? 0 : 8;
    wrong += says_fork([&] { Queue another(*device); }) ? 0 : 16;
    event.reset();
    kernel.reset();
    buffer.reset();
    product.reset();
    pinned = {};
    queue.reset();
    device.reset();
    return wrong;
  });
  EXPECT_EQ(status, 0);
  queue->finish();
  EXPECT_EQ(queue->download(product).get(), std::vector<float>(4096, 64.0F));
}

TEST_P(ForkTest, DISABLED_exits) {
  const Device device = open(GetParam());
  Queue queue(device);
  const auto buffer = device.allocate<float>(1 << 24);
  // The threads that compute have started before the fork: a thread that starts holds locks of AddressSanitizer's
  // allocator, which its version in g++ 12 leaves locked in a child.
  queue.fill(buffer, 1.0F);
  queue.finish();
  queue.fill(buffer, 2.0F);
  // Intel's runtime waits, where a process exits, for the work that is under way: in a child, which has none of the
  // threads that compute it, for ever.
  if (contains(device.info().driver, "Intel")) queue.finish();
  EXPECT_EQ(status_of_fork([] {
              std::exit(7);
              return 0;
            }),
            7);
  queue.finish();
}

}  // namespace
}  // namespace tessera::testing_support
