// A queue on which something failed: nothing that a command uses goes before the command has ended, and nothing is told
// wrong.
#include "scripted_test.h"

namespace tessera::testing {
namespace {

class QueueFaultTest : public ScriptedTest {};

TEST_F(QueueFaultTest, finish_waits_for_what_runs_and_then_throws_the_first_error) {
  const Device device = open("scripted:0");
  const auto buffer = device.upload<int>(std::vector<int>(100, 3));
  Queue queue(device);
  script().hold();
  auto result = queue.download(buffer);
  const ReleasedLater later;
  script().fail(Call::enqueue, ErrorCode::out_of_memory, 1);
  EXPECT_ERROR(queue.fill(buffer, 1), ErrorCode::out_of_memory, "queueing command 2");
  EXPECT_TRUE(later.has_released()) << "fill() threw while the download before it could still run";
  EXPECT_ERROR(queue.finish(), ErrorCode::out_of_memory, "queueing command 2");
  EXPECT_EQ(script().commands, 0);
}

TEST_F(QueueFaultTest, a_destructor_waits_for_a_queue_that_failed) {
  const Device device = open("scripted:0");
  const auto buffer = device.upload<int>(std::vector<int>(100, 3));
  std::vector<int> host(100);
  script().hold();
  {
    Queue queue(device);
    queue.download(buffer, host);
    script().fail(Call::finish, ErrorCode::internal, 1);
    const ReleasedLater later;
    EXPECT_ERROR(queue.finish(), ErrorCode::internal, "the script wants");
    EXPECT_EQ(script().commands, 0);
  }
  EXPECT_EQ(host, std::vector<int>(100, 3));
}

TEST_F(QueueFaultTest, borrowed_host_memory_is_free_once_the_call_has_thrown) {
  const Device device = open("scripted:0");
  const auto buffer = device.allocate<int>(1000);
  Queue queue(device);
  script().hold();
  {
    const std::vector<int> host(1000, 5);
    const ReleasedLater later;
    script().fail(Call::enqueue, ErrorCode::internal, 1);  // a part of the upload was queued before
    EXPECT_ERROR(queue.upload(buffer, host), ErrorCode::internal);
    EXPECT_EQ(script().commands, 0) << "the upload still reads the memory that is freed now";
  }
}

TEST_F(QueueFaultTest, a_refused_wait_poisons_and_is_told) {
  const Device device = open("scripted:0");
  Queue first(device);
  Queue second(device, {.label = "waiting"});
  const auto buffer = device.allocate<int>(10);
  const Event event = first.record();
  script().fail(Call::enqueue, ErrorCode::device_lost, 1);
  EXPECT_ERROR(second.wait(event), ErrorCode::device_lost, "waiting for an event", "'waiting'");
  EXPECT_ERROR(second.fill(buffer, 1), ErrorCode::device_lost, "waiting for an event");
  EXPECT_ERROR(second.finish(), ErrorCode::device_lost);
  first.finish();
}

TEST_F(QueueFaultTest, a_refusal_leaves_the_queue_as_it_was) {
  const Device device = open("scripted:0");
  const auto buffer = device.allocate<int>(10);
  Queue queue(device);
  script().fail(Call::enqueue, ErrorCode::unsupported, 1);
  EXPECT_ERROR(queue.fill(buffer, 1), ErrorCode::unsupported);
  queue.fill(buffer, 2);
  EXPECT_EQ(queue.download(buffer).get(), std::vector<int>(10, 2));
}

TEST_F(QueueFaultTest, an_event_that_cannot_be_recorded_is_told) {
  const Device device = open("scripted:0");
  Queue queue(device, {.label = "main"});
  script().fail(Call::record, ErrorCode::out_of_memory, 1);
  EXPECT_ERROR((void)queue.record(), ErrorCode::out_of_memory, "recording an event", "'main'");
  queue.record().wait();
}

TEST_F(QueueFaultTest, a_failed_wait_for_an_event_leaves_nothing_running) {
  const Device device = open("scripted:0");
  const auto buffer = device.upload<int>(std::vector<int>(10, 1));
  Queue queue(device);
  script().hold();
  {
    auto result = queue.download(buffer);
    const ReleasedLater later;
    script().fail(Call::wait, ErrorCode::internal, 1);
    EXPECT_ERROR((void)result.get(), ErrorCode::internal);
  }
  EXPECT_EQ(script().commands, 0);
  EXPECT_ERROR(queue.finish(), ErrorCode::internal);
}

TEST_F(QueueFaultTest, what_cannot_be_drained_is_kept) {
  Device device = open("scripted:0");
  {
    const auto buffer = device.allocate<int>(100);
    Queue queue(device, {.label = "stuck"});
    script().hold();
    queue.upload(buffer, std::vector<int>(100, 1));
    script().fail(Call::finish, ErrorCode::device_lost);
    script().fail(Call::drain, ErrorCode::device_lost);
    EXPECT_ERROR(queue.finish(), ErrorCode::device_lost, "'stuck'", "host memory that was lent to it must stay");
  }
  // The queue and the buffer are gone for the program; the command that uses both is not.
  EXPECT_EQ(script().queues, 1);
  EXPECT_GE(device.memory().pending_bytes, 400U);
  EXPECT_EQ(device.memory().cached_bytes, 0U);
  EXPECT_EQ(device.trim(), 0U);
  EXPECT_EQ(script().violations, 0);
  script().release();
  script().mend(Call::drain);
  EXPECT_GE(device.trim(), 400U) << "a queue that drains later gives everything back";
  EXPECT_EQ(script().queues, 0);
}

TEST_F(QueueFaultTest, a_blocking_transfer_that_fails_leaves_nothing_running) {
  const Device device = open("scripted:0");
  script().hold();
  {
    const std::vector<int> host(1000, 7);
    const ReleasedLater later;
    script().fail(Call::finish, ErrorCode::internal, 1);
    EXPECT_ERROR((void)device.upload<int>(host), ErrorCode::internal);
    EXPECT_EQ(script().commands, 0);
  }
  const auto again = device.upload<int>(std::vector{1, 2});  // on a fresh queue
  Queue queue(device);
  EXPECT_EQ(queue.download(again).get(), (std::vector{1, 2}));
}

TEST_F(QueueFaultTest, one_thread_queues_nothings_while_others_poison) {
  const Device device = open("scripted:0");
  const auto none = device.allocate<float>(0);
  for (int round = 0; round < 50; ++round) {
    Queue queue(device);
    const Event event = queue.record();
    script().fail(Call::poll, ErrorCode::internal, 1);
    std::thread asks([event] {
      try {
        static_cast<void>(event.is_done());
      } catch (const Error&) {
        // expected of one of the two
      }
    });
    try {
      for (int i = 0; i < 100; ++i) queue.fill(none, 1.0F);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
    }
    asks.join();
    script().mend(Call::poll);
  }
}

}  // namespace
}  // namespace tessera::testing
