// A command that fails on the device poisons its queue, and the error names the command. The CPU's function throws; on
// CUDA a kernel writes to an address that is not mapped, in a process of its own, because that ends the context. OpenCL
// has no portable way to fail: drivers crash or carry on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "each_device.h"
#include "own_kernels.h"
#include "support/child_process.h"

namespace tessera::testing_support {
namespace {

class PoisonedQueueTest : public EachDevice {
 protected:
  [[nodiscard]] bool is(const char* backend) const { return device().info().backend == backend; }
};
TESSERA_ON_EACH_DEVICE(PoisonedQueueTest);

/// Every call that must throw the first error once the queue is poisoned.
void expect_poisoned(Queue& queue, const Buffer<std::int32_t>& buffer, const std::string& command) {
  const auto fails = [&](const char* call, auto&& action) {
    SCOPED_TRACE(call);
    const Refusal refusal = refusal_of(action);
    EXPECT_NE(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    EXPECT_TRUE(contains(refusal.what, command));
  };
  fails("finish", [&] { queue.finish(); });
  fails("finish again", [&] { queue.finish(); });
  fails("fill", [&] { queue.fill(buffer, 1); });
  fails("upload", [&] { queue.upload(buffer, std::vector<std::int32_t>(buffer.size(), 1)); });
  fails("download", [&] { static_cast<void>(queue.download(buffer)); });
  fails("record", [&] { static_cast<void>(queue.record()); });
}

TEST_P(PoisonedQueueTest, a_function_that_throws) {
  if (!takes_functions(device())) GTEST_SKIP() << "only a function of the program can throw";
  const Device device = fresh_device();
  const auto runs = std::make_shared<std::atomic<int>>(0);
  const OwnKernel harmless = device.compile({.name = "harmless",
                                             .parameters = {output<std::int32_t>("x")},
                                             .cpu = [](const WorkGroup&, std::span<std::int32_t> x) { x[0] = 1; }});
  const OwnKernel thrower = device.compile({.name = "thrower",
                                            .parameters = {output<std::int32_t>("x")},
                                            .cpu =
                                                [runs](const WorkGroup& group, std::span<std::int32_t>) {
                                                  ++*runs;
                                                  if (group.id.x == 3)
                                                    throw std::runtime_error("group 3 has had enough");
                                                },
                                            .label = "the one that throws"});
  const auto buffer = device.upload<std::int32_t>(std::vector<std::int32_t>(8, 0));
  Queue queue(device, {.label = "the doomed queue"});
  queue.launch(harmless, {.groups = {1}, .group_size = {1}}, buffer);
  queue.launch(thrower, {.groups = {8}, .group_size = {1}}, buffer);
  const Refusal first = refusal_of([&] {
    queue.launch(harmless, {.groups = {1}, .group_size = {1}}, buffer);
    queue.finish();
  });
  EXPECT_TRUE(contains(first.what, "group 3 has had enough"));
  EXPECT_TRUE(contains(first.what, "the one that throws"));
  EXPECT_TRUE(contains(first.what, "the doomed queue"));
  EXPECT_GT(runs->load(), 0);
  expect_poisoned(queue, buffer, "the one that throws");

  Queue healthy(device);
  healthy.fill(buffer, 5);
  EXPECT_EQ(healthy.download(buffer).get(), std::vector<std::int32_t>(8, 5)) << "other queues must go on";
}

TEST_P(PoisonedQueueTest, an_event_behind_the_failure_throws) {
  if (!takes_functions(device())) GTEST_SKIP() << "only a function of the program can throw";
  const Device device = fresh_device();
  const OwnKernel thrower = device.compile(
      {.name = "thrower", .parameters = {}, .cpu = [](const WorkGroup&) { throw std::runtime_error("enough"); }});
  Queue queue(device);
  const Event before = queue.record();
  before.wait();
  queue.launch(thrower, {.groups = {1}, .group_size = {1}});
  const Refusal refusal = refusal_of([&] {
    const Event after = queue.record();
    after.wait();
  });
  EXPECT_TRUE(contains(refusal.what, "thrower"));
  before.wait();  // what was done before the failure stays done
}

TEST_P(PoisonedQueueTest, an_illegal_address_in_a_process_of_its_own) {
  if (!is("cuda")) GTEST_SKIP() << "only CUDA reports an illegal address and lives";
  const ChildResult child =
      run_child(this_program(),
                {"--backend=cuda", "--gtest_also_run_disabled_tests",
                 "--gtest_filter=api/PoisonedQueueTest.DISABLED_child_writes_to_an_illegal_address/" +
                     name_for_tests(GetParam())},
                {{"TESSERA_REQUIRE", ""}});
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_TRUE(contains(child.output, "[  PASSED  ] 1 test"));
}

/// Run by the test above alone.
TEST_P(PoisonedQueueTest, DISABLED_child_writes_to_an_illegal_address) {
  ASSERT_TRUE(is("cuda"));
  const OwnKernel stray =
      device().compile({.name = "stray",
                        .parameters = {output<std::int32_t>("x")},
                        .cuda = "extern \"C\" __global__ void stray(int* x) { *reinterpret_cast<int*>(0x10) = x[0]; }",
                        .label = "the stray write"});
  const auto buffer = device().upload<std::int32_t>(std::vector<std::int32_t>(8, 0));
  Queue queue(device());
  queue.launch(stray, {.groups = {1}, .group_size = {1}}, buffer);
  const Refusal refusal = refusal_of([&] { queue.finish(); });
  EXPECT_EQ(refusal.code, ErrorCode::device_lost) << refusal.what;
  EXPECT_TRUE(contains(refusal.what, "the stray write"));
  EXPECT_TRUE(contains(refusal.what, "ILLEGAL_ADDRESS"));
  expect_poisoned(queue, buffer, "the stray write");
}

}  // namespace
}  // namespace tessera::testing_support
