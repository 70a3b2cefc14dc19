// A child process of fork(): every use of what the parent had opened is an error, and the child ends.
#include "scripted_test.h"
#include "support/forked_child.h"

#include <cstdlib>
#include <functional>
#include <optional>

namespace {
bool is_child = false;
}  // namespace

/// Asked by LeakSanitizer at exit: a child leaves to its parent what it must not destroy.
extern "C" int __lsan_is_turned_off();   // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() {  // NOLINT(bugprone-reserved-identifier)
  return is_child ? 1 : 0;
}

namespace tessera::testing {
namespace {

class ForkTest : public ScriptedTest {};

using testing_support::says_fork;

/// The child's exit status. LeakSanitizer is told that it is one.
int status_of_child(const std::function<int()>& body) {
  return testing_support::status_of_fork([&] {
    is_child = true;
    return body();
  });
}

TEST_F(ForkTest, every_call_in_the_child_says_so_and_destructors_leave_alone) {
  std::optional<Device> device(open("scripted:0"));
  std::optional<Queue> queue(std::in_place, *device);
  auto buffer = device->allocate<int>(10);
  auto pinned = device->allocate_pinned<int>(10);
  const auto operand = device->allocate<float>(4);
  const auto c = device->allocate<float>(4);
  auto kernel = std::make_optional(device->kernel(Gemm{.m = 2, .n = 2, .k = 2}));
  queue->run(*kernel, {.a = operand, .b = operand, .c = c});
  auto event = std::make_optional(queue->record());
  script().hold();
  queue->fill(buffer, 1);  // in flight while the process forks
  const int status = status_of_child([&] {
    int said = 0;
    said += says_fork([&] { queue->finish(); }) ? 1 : 0;
    said += says_fork([&] { queue->fill(buffer, 3); }) ? 2 : 0;
    said += says_fork([&] { event->wait(); }) ? 4 : 0;
    said += says_fork([&] { (void)device->allocate<int>(1); }) ? 8 : 0;
    said += says_fork([&] { (void)device->kernel(Gemm{.m = 2, .n = 2, .k = 2}); }) ? 16 : 0;
    said += says_fork([&] { Queue another(*device); }) ? 32 : 0;
    said += says_fork([&] { (void)open("scripted:0"); }) ? 64 : 0;
    event.reset();
    kernel.reset();
    buffer.reset();
    pinned = {};
    queue.reset();
    device.reset();
    return said;
  });
  script().release();
  EXPECT_EQ(status, 127);
  queue->finish();  // the parent goes on
}

TEST_F(ForkTest, a_child_that_exits_ends) {
  static std::optional<Device> device;
  static std::optional<Queue> queue;
  device.emplace(open("scripted:0"));
  queue.emplace(*device);
  queue->fill(device->allocate<int>(10), 1);
  EXPECT_EQ(status_of_child([] {
              std::exit(3);
              return 0;
            }),
            3);
  queue.reset();
  device.reset();
}

}  // namespace
}  // namespace tessera::testing
