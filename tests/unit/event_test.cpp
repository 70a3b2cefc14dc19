// Events: order, time, and the refusal to mix devices.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include "expect_error.h"

namespace tessera {
namespace {

TEST(EventTest, time_runs_forward) {
  const Device device = open("minimal:0");
  Queue queue(device);
  const Event start = queue.record();
  const auto buffer = device.allocate<double>(100000);
  queue.fill(buffer, 1.0);
  const Event stop = queue.record();
  EXPECT_TRUE(stop.is_done());
  EXPECT_GT(seconds_between(start, stop), 0.0);
}

TEST(EventTest, events_outlive_their_queue) {
  const Device device = open("minimal:0");
  const Event event = Queue(device).record();
  event.wait();
  EXPECT_TRUE(event.is_done());
}

TEST(EventTest, devices_are_not_mixed) {
  const Device first = open("minimal:0");
  const Device second = open("minimal:0");
  Queue here(first);
  Queue there(second, {.label = "there"});
  const Event a = here.record();
  const Event b = there.record();
  EXPECT_ERROR((void)seconds_between(a, b), ErrorCode::invalid_argument, "minimal:0", "another time");
  EXPECT_ERROR(there.wait(a), ErrorCode::invalid_argument, "'there'");
}

}  // namespace
}  // namespace tessera
