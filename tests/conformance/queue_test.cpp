// Queues on every device: order, asynchrony, waiting for each other, and who may die first.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "delay.h"
#include "each_device.h"

namespace tessera::testing_support {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class QueueTest : public EachDevice {
 protected:
  static constexpr int kThreads = 4;

  /// Lets each of kThreads threads, with a queue of its own, ask `is_right(queue, its number)` so often. All must be.
  template <class IsRight>
  void expect_right_in_threads(int rounds, const IsRight& is_right) {
    std::vector<int> wrong(kThreads, 0);
    std::vector<std::thread> threads;
    for (int index = 0; index < kThreads; ++index) {
      threads.emplace_back([&, index] {
        Queue queue(device());
        for (int round = 0; round < rounds; ++round) {
          if (!is_right(queue, index)) ++wrong[static_cast<std::size_t>(index)];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
  }
};
TESSERA_ON_EACH_DEVICE(QueueTest);

TEST_P(QueueTest, commands_run_in_the_order_of_the_calls) {
  constexpr std::size_t kCount = 4099;
  const auto x = device().allocate<std::uint32_t>(kCount);
  const auto history = device().allocate<std::uint32_t>(kCount * 32);
  Queue queue(device());
  std::vector<std::uint32_t> expected;
  for (std::uint32_t step = 0; step < 32; ++step) {
    queue.fill(x, step);
    queue.copy(history.view(step * kCount, kCount), x);
    expected.insert(expected.end(), kCount, step);
  }
  EXPECT_EQ(queue.download(history).get(), expected);
}

TEST_P(QueueTest, calls_return_before_the_work_is_done) {
  TESSERA_DELAY_OR_SKIP(delay, device(), 0.3);
  const auto buffer = device().upload<std::uint32_t>(std::vector<std::uint32_t>{5, 0});
  std::vector<std::uint32_t> found(2);
  const auto pinned = device().allocate_pinned<std::uint32_t>(2);
  Queue queue(device());
  const auto start = Clock::now();
  delay.launch(queue, buffer);
  queue.copy(buffer.view(1, 1), buffer.view(0, 1));
  queue.download(buffer, pinned);
  const Event done = queue.record();
  EXPECT_FALSE(done.is_done()) << "after " << seconds_since(start) << " s";
  const double queued = seconds_since(start);
  queue.finish();
  const double finished = seconds_since(start);
  EXPECT_LT(queued, finished / 2) << "the calls waited for the work";
  EXPECT_TRUE(done.is_done());
  EXPECT_EQ(pinned[0], delayed(5, delay.rounds()));
  EXPECT_EQ(pinned[1], pinned[0]);
}

TEST_P(QueueTest, a_queue_waits_for_another_queues_event) {
  TESSERA_DELAY_OR_SKIP(delay, device(), 0.1);
  const auto x = device().upload<std::uint32_t>(std::vector<std::uint32_t>{9});
  const auto y = device().upload<std::uint32_t>(std::vector<std::uint32_t>{0});
  Queue producer(device());
  Queue consumer(device());
  for (int round = 0; round < 3; ++round) {
    delay.launch(producer, x);
    const Event ready = producer.record();
    consumer.wait(ready);
    consumer.copy(y, x);
    const Event copied = consumer.record();
    producer.wait(copied);  // and the other way round
    producer.fill(x, static_cast<std::uint32_t>(10 + round));
    const std::uint32_t seed = round == 0 ? 9 : static_cast<std::uint32_t>(9 + round);
    EXPECT_EQ(consumer.download(y).get().front(), delayed(seed, delay.rounds())) << "round " << round;
  }
  producer.finish();
}

TEST_P(QueueTest, the_destructor_waits_for_the_work) {
  TESSERA_DELAY_OR_SKIP(delay, device(), 0.1);
  std::vector<std::uint32_t> found(1);
  const auto buffer = device().upload<std::uint32_t>(std::vector<std::uint32_t>{3});
  {
    Queue queue(device());
    delay.launch(queue, buffer);
    queue.download(buffer, found);
  }
  EXPECT_EQ(found.front(), delayed(3, delay.rounds()));
}

TEST_P(QueueTest, buffers_may_go_while_the_queue_works) {
  TESSERA_DELAY_OR_SKIP(delay, device(), 0.1);
  Queue queue(device());
  Download<std::uint32_t> result = [&] {
    const auto x = device().upload<std::uint32_t>(std::vector<std::uint32_t>{11});
    const auto y = device().allocate<std::uint32_t>(1);
    delay.launch(queue, x);
    queue.copy(y, x);
    return queue.download(y);
  }();
  const auto other = device().allocate<std::uint32_t>(1);  // must not take memory that is still in use
  Queue second(device());
  second.fill(other, 0U);
  second.finish();
  EXPECT_EQ(result.get().front(), delayed(11, delay.rounds()));
}

TEST_P(QueueTest, the_device_handle_may_go_first) {
  std::optional<Device> handle(fresh_device());
  auto buffer = handle->allocate<std::int32_t>(3);
  auto pinned = handle->allocate_pinned<std::int32_t>(3);
  auto gemm = handle->kernel(Gemm{.m = 2, .n = 2, .k = 2});
  const auto a = handle->upload<float>(std::vector<float>{1, 2, 3, 4});
  const auto c = handle->allocate<float>(4);
  std::optional<Queue> queue(*handle);
  handle.reset();
  queue->upload(buffer, std::vector<std::int32_t>{4, 5, 6});
  queue->download(buffer, pinned);
  queue->run(gemm, {.a = a, .b = a, .c = c});
  EXPECT_EQ(queue->download(c).get(), (std::vector<float>{7, 10, 15, 22}));
  queue->finish();
  EXPECT_EQ(pinned[2], 6);
  queue.reset();
  EXPECT_EQ(buffer.size(), 3U);
  buffer.reset();  // the last ones to know the device
}

TEST_P(QueueTest, a_kernel_may_go_while_the_queue_works) {
  Queue queue(device());
  const auto a = device().upload<float>(std::vector<float>{1, 2, 3, 4});
  const auto c = device().allocate<float>(4);
  {
    const auto gemm = device().kernel(Gemm{.m = 2, .n = 2, .k = 2});
    queue.run(gemm, {.a = a, .b = a, .c = c});
  }
  EXPECT_EQ(queue.download(c).get(), (std::vector<float>{7, 10, 15, 22}));
}

TEST_P(QueueTest, moving_a_queue_keeps_its_work) {
  const auto buffer = device().allocate<std::uint32_t>(100);
  Queue first(device());
  first.fill(buffer, 1U);
  Queue second(std::move(first));
  second.fill(buffer.view(50, 50), 2U);
  Queue third(device());
  const auto other = device().allocate<std::uint32_t>(100);
  third.fill(other, 9U);
  third = std::move(second);  // waits for the fill above
  EXPECT_EQ(third.download(other).get(), std::vector<std::uint32_t>(100, 9U));
  const auto found = third.download(buffer).get();
  EXPECT_EQ(found[1], 1U);
  EXPECT_EQ(found[99], 2U);
}

TEST_P(QueueTest, several_threads_each_with_their_own_queue) {
  constexpr std::size_t kSide = 37;
  expect_right_in_threads(20, [&](Queue& queue, int index) {
    const float value = static_cast<float>(index + 1);
    const auto gemm = device().kernel(Gemm{.m = kSide, .n = kSide, .k = kSide});
    const auto a = device().allocate<float>(kSide * kSide);
    const auto c = device().allocate<float>(kSide * kSide);
    queue.fill(a, value);
    queue.run(gemm, {.a = a, .b = a, .c = c});
    return queue.download(c).get() == std::vector<float>(kSide * kSide, value * value * static_cast<float>(kSide));
  });
}

TEST_P(QueueTest, several_threads_share_a_kernel_and_prepared_weights) {
  const CnnLayer layer{.input_channels = 3,
                       .output_channels = 5,
                       .height = 19,
                       .width = 23,
                       .filter_height = 3,
                       .filter_width = 3,
                       .padding = 1,
                       .pool_size = 2};
  const auto numbers = [](std::int64_t count, int seed) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7 + seed) % 13) - 6;
    return values;
  };
  const auto kernel = device().kernel(layer);
  Queue first(device());
  const auto weights = device().upload<float>(numbers(layer.output_channels * layer.input_channels * 9, 1));
  const auto bias = device().upload<float>(numbers(layer.output_channels, 2));
  const PreparedWeights prepared = first.prepare_weights(kernel, weights);
  first.finish();
  const auto computed = [&](Queue& queue, int seed) {
    const auto input = device().upload<float>(numbers(layer.input_channels * layer.height * layer.width, seed));
    const auto output = device().allocate<float>(
        static_cast<std::size_t>(layer.output_channels * layer.output_height() * layer.output_width()));
    queue.run(kernel, {.input = input, .weights = prepared, .bias = bias, .output = output});
    return queue.download(output).get();
  };
  std::vector<std::vector<float>> alone;
  for (int index = 0; index < kThreads; ++index) alone.push_back(computed(first, index));
  ASSERT_NE(alone[0], alone[1]);
  expect_right_in_threads(
      20, [&](Queue& queue, int index) { return computed(queue, index) == alone[static_cast<std::size_t>(index)]; });
}

// Parts of one sum may meet in memory that a queue has for that.
TEST_P(QueueTest, several_threads_share_kernels_whose_sums_are_cut) {
  const Gemm problem{.m = 40, .n = 36, .k = 700};
  std::vector<OperatorKernel<Gemm>> kernels;
  for (const VariantReport& report : explain(problem, device())) {
    const auto split = std::find_if(report.tunables.begin(), report.tunables.end(),
                                    [](const Tunable& tunable) { return tunable.name == "split_k"; });
    if (!report.can_run || (split == report.tunables.end() && report.variant != "split_k")) continue;
    const Tuning tuning = split == report.tunables.end() ? Tuning{} : Tuning{{"split_k", 4}};
    kernels.push_back(device().kernel(problem, {.variant = report.variant, .tuning = tuning}));
  }
  if (kernels.empty()) GTEST_SKIP() << "no variant of gemm has parts here";
  std::vector<float> numbers(static_cast<std::size_t>(problem.m * problem.k));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7 % 13) - 6;
  const auto b = device().upload<float>(std::span(numbers).first(static_cast<std::size_t>(problem.n * problem.k)));
  const auto computed = [&](Queue& queue, const OperatorKernel<Gemm>& kernel, int seed) {
    std::vector<float> mine = numbers;
    mine[static_cast<std::size_t>(seed)] = 50;
    const auto a = device().upload<float>(mine);
    const auto c = device().allocate<float>(static_cast<std::size_t>(problem.m * problem.n));
    for (int run = 0; run < 3; ++run) queue.run(kernel, {.a = a, .b = b, .c = c});
    return queue.download(c).get();
  };
  std::vector<std::vector<float>> alone;
  {
    Queue queue(device());
    for (int index = 0; index < kThreads; ++index) alone.push_back(computed(queue, kernels.front(), index));
  }
  ASSERT_NE(alone[0], alone[1]);
  expect_right_in_threads(10, [&](Queue& queue, int index) {
    return std::all_of(kernels.begin(), kernels.end(), [&](const OperatorKernel<Gemm>& kernel) {
      return computed(queue, kernel, index) == alone[static_cast<std::size_t>(index)];
    });
  });
}

TEST_P(QueueTest, many_small_commands) {
  const auto buffer = device().allocate<std::uint8_t>(256);
  Queue queue(device());
  for (int round = 0; round < 5000; ++round) queue.fill(buffer.view(round % 256, 1), static_cast<std::uint8_t>(round));
  const auto found = queue.download(buffer).get();
  for (int i = 0; i < 256; ++i) {
    const int last = i < 5000 % 256 ? 5000 / 256 * 256 + i : (5000 / 256 - 1) * 256 + i;
    EXPECT_EQ(found[static_cast<std::size_t>(i)], static_cast<std::uint8_t>(last));
  }
}

}  // namespace
}  // namespace tessera::testing_support
