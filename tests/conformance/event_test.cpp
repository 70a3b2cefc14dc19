// Events on every device: being done, and the time between two.
#include <gtest/gtest.h>

#include <chrono>

#include "delay.h"
#include "each_device.h"

namespace tessera::testing_support {
namespace {

class EventTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(EventTest);

TEST_P(EventTest, of_an_empty_queue_is_done) {
  Queue queue(device());
  const Event event = queue.record();
  event.wait();
  EXPECT_TRUE(event.is_done());
  const Event copy = event;
  copy.wait();
}

TEST_P(EventTest, outlives_its_queue) {
  const Event event = [&] {
    Queue queue(device());
    queue.fill(device().allocate<int>(1000), 1);
    return queue.record();
  }();
  event.wait();
  EXPECT_TRUE(event.is_done());
}

TEST_P(EventTest, measures_the_work_between) {
  TESSERA_DELAY_OR_SKIP(delay, device(), 0.1);
  const auto buffer = device().upload<std::uint32_t>(std::vector<std::uint32_t>{1});
  Queue queue(device());
  const auto wall_start = std::chrono::steady_clock::now();
  const Event start = queue.record();
  delay.launch(queue, buffer);
  const Event middle = queue.record();
  delay.launch(queue, buffer);
  const Event stop = queue.record();
  const double whole = seconds_between(start, stop);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  const double first = seconds_between(start, middle);
  const double second = seconds_between(middle, stop);
  const double resolution = device().info().timer_resolution_s;
  EXPECT_GT(first, 0.0);
  EXPECT_GT(second, 0.0);
  EXPECT_NEAR(first + second, whole, 4 * resolution + 1e-5 * whole);
  // The device's clock and the host's tell the same time, and nothing was left out: the work is most of the wall time.
  EXPECT_LE(whole, wall * 1.02 + 4 * resolution);
  EXPECT_GE(whole, wall * 0.5);
  EXPECT_GE(seconds_between(stop, stop), 0.0);
}

TEST_P(EventTest, of_two_queues_of_one_device_are_on_one_clock) {
  TESSERA_DELAY_OR_SKIP(delay, device(), 0.05);
  const auto buffer = device().upload<std::uint32_t>(std::vector<std::uint32_t>{1});
  Queue first(device());
  Queue second(device());
  const auto wall_start = std::chrono::steady_clock::now();
  const Event start = first.record();
  delay.launch(first, buffer);
  const Event produced = first.record();
  second.wait(produced);
  const Event stop = second.record();
  const double whole = seconds_between(start, stop);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  const double resolution = device().info().timer_resolution_s;
  EXPECT_GT(seconds_between(start, produced), 0.0);
  EXPECT_GE(whole, seconds_between(start, produced) - 2 * resolution) << "the second queue waited for the first";
  EXPECT_LE(whole, wall * 1.02 + 4 * resolution);
}

TEST_P(EventTest, of_another_opening_is_refused) {
  const Device other = fresh_device();
  Queue queue(device());
  Queue stranger(other);
  const Event here = queue.record();
  const Event there = stranger.record();
  const Refusal waiting = refusal_of([&] { queue.wait(there); });
  EXPECT_EQ(waiting.code, ErrorCode::invalid_argument) << waiting.what;
  EXPECT_TRUE(contains(waiting.what, GetParam()));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(seconds_between(here, there)); }).code, ErrorCode::invalid_argument);
  queue.finish();
}

}  // namespace
}  // namespace tessera::testing_support
