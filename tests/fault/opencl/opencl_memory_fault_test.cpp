// Memory that a command still works on stays, whatever fails beside it: the library on a driver that fails while a slow
// kernel runs.
#include <gtest/gtest.h>

#include <CL/cl.h>

#include <optional>
#include <string>
#include <vector>

#include <tessera/tessera.h>

#include "opencl/faulty_driver.h"
#include "opencl/slow_command.h"

namespace tessera::fault {
namespace {

constexpr std::size_t kCount = 1 << 16;

class OpenclMemoryFaultTest : public testing::Test {
 protected:
  void SetUp() override {
    faulty_driver().clear();
    device_.emplace(open("opencl:0"));
    slow_.emplace(device_->compile(slow_source()));
    y_ = device_->allocate<float>(kCount);
    Queue warm(*device_);
    run_slowly(warm, *slow_, y_, 1);
    warm.finish();
  }
  void TearDown() override {
    faulty_driver().clear();
    y_.reset();
    slow_.reset();
    device_.reset();
    EXPECT_EQ(alive_text(), "");
  }

  /// Queues the slow kernel, and then a launch that the driver has no memory for.
  void poison(Queue& queue) {
    faulty_driver().fail_function("clEnqueueNDRangeKernel", CL_OUT_OF_HOST_MEMORY);
    try {
      run_slowly(queue, *slow_, y_, 1);
      ADD_FAILURE() << "the launch must throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    faulty_driver().clear();
  }

  /// Fills two new buffers on a healthy queue and looks at them when the slow kernel has long ended.
  void expect_fresh_memory_is_ours() {
    Queue healthy(*device_);
    const auto first = device_->allocate<float>(kCount);
    const auto second = device_->allocate<float>(kCount);
    healthy.fill(first, 7.0F);
    healthy.fill(second, 7.0F);
    healthy.finish();
    // On another driver queue than the slow kernel's: only its own end says that it has ended.
    const auto finished = device_->allocate<float>(kCount);
    Queue long_enough(*device_);
    run_slowly(long_enough, *slow_, finished, 3 * kSlowRounds);
    long_enough.finish();
    const std::vector<float> expected(kCount, 7.0F);
    EXPECT_EQ(healthy.download(first).get(), expected);
    EXPECT_EQ(healthy.download(second).get(), expected);
  }

  std::optional<Device> device_;
  std::optional<OwnKernel> slow_;
  Buffer<float> y_;
};

TEST_F(OpenclMemoryFaultTest, a_poisoned_queue_waits_before_it_lets_go) {
  std::optional<Queue> queue(std::in_place, *device_);
  run_slowly(*queue, *slow_, y_);
  {
    const auto result = queue->download(y_);  // into a vector that the library and `result` share
    poison(*queue);
    EXPECT_THROW(queue->finish(), Error);
  }
  queue.reset();  // what it kept is gone now, and the driver must have been asked before
  EXPECT_EQ(faulty_driver().unconfirmed_queues(), 0) << "the slow kernel and the copy behind it may still run";
}

TEST_F(OpenclMemoryFaultTest, memory_of_a_poisoned_queue_is_not_handed_out) {
  std::optional<Queue> queue(std::in_place, *device_);
  run_slowly(*queue, *slow_, y_);
  const Event event = queue->record();
  poison(*queue);
  queue.reset();
  y_.reset();
  expect_fresh_memory_is_ours();
}

TEST_F(OpenclMemoryFaultTest, a_failing_poll_does_not_count_as_past) {
  Queue queue(*device_);
  run_slowly(queue, *slow_, y_);
  y_.reset();
  static_cast<void>(device_->memory());  // a fence behind the first command
  auto other = device_->allocate<float>(kCount);
  run_slowly(queue, *slow_, other, 1);  // wants a newer one
  other.reset();
  faulty_driver().fail_function("clEnqueueMarkerWithWaitList", CL_OUT_OF_HOST_MEMORY);
  faulty_driver().fail_function("clGetEventInfo", CL_OUT_OF_HOST_MEMORY);
  static_cast<void>(device_->memory());  // any look at the books asks the queue how far it is
  faulty_driver().clear();
  expect_fresh_memory_is_ours();
  queue.finish();
}

TEST_F(OpenclMemoryFaultTest, a_queue_that_cannot_be_drained_keeps_what_it_uses) {
  std::optional<Queue> queue(std::in_place, *device_);
  run_slowly(*queue, *slow_, y_);
  for (const char* function : {"clFinish", "clEnqueueMarkerWithWaitList", "clWaitForEvents", "clGetEventInfo"}) {
    faulty_driver().fail_function(function, CL_OUT_OF_RESOURCES);
  }
  EXPECT_THROW(queue->finish(), Error);
  queue.reset();
  y_.reset();
  faulty_driver().clear();
  expect_fresh_memory_is_ours();
  static_cast<void>(device_->trim());
}

TEST_F(OpenclMemoryFaultTest, a_lost_device_says_so_and_leaves_nothing) {
  Queue queue(*device_);
  run_slowly(queue, *slow_, y_);
  faulty_driver().lose_device();
  try {
    queue.finish();
    ADD_FAILURE() << "a lost device must be told of";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost) << error.what();
  }
}

TEST_F(OpenclMemoryFaultTest, a_command_refused_halfway_poisons_its_queue) {
  constexpr std::int64_t kSize = 64;
  const auto kernel = device_->kernel(CnnLayer{.input_channels = 8,
                                               .output_channels = 8,
                                               .height = 8,
                                               .width = 8,
                                               .filter_height = 3,
                                               .filter_width = 3,
                                               .padding = 1,
                                               .pool_size = 3,
                                               .bias = false},
                                      {.variant = "implicit_gemm_panels"});
  const auto image = device_->upload<float>(std::vector<float>(8 * kSize, 1.0F));
  const auto weights = device_->upload<float>(std::vector<float>(8 * 8 * 9, 1.0F));
  const auto out = device_->allocate<float>(8 * 4);
  Queue queue(*device_);
  const PreparedWeights prepared = queue.prepare_weights(kernel, weights);
  queue.finish();
  // By itself that code refuses a launch and leaves the queue well. The second launch of a run cannot be refused.
  faulty_driver().fail_function("clEnqueueNDRangeKernel", CL_OUT_OF_RESOURCES, 2);
  try {
    queue.run(kernel, {.input = image, .weights = prepared, .bias = {}, .output = out});
    ADD_FAILURE() << "the run must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
  }
  faulty_driver().clear();
  EXPECT_THROW(queue.finish(), Error);
}

TEST_F(OpenclMemoryFaultTest, a_queue_that_gets_no_counters_says_so_and_the_next_one_counts) {
  constexpr std::int64_t kSize = 32, kSum = 512;
  const auto kernel = device_->kernel(Gemm{.m = kSize, .n = kSize, .k = kSum},
                                      {.variant = "register_local", .tuning = {{"split_k", 4}}});
  const auto ones = device_->upload<float>(std::vector<float>(kSize * kSum, 1.0F));
  const auto sums = device_->allocate<float>(kSize * kSize);
  const Gemm::Operands operands{.a = ones, .b = ones, .c = sums};
  {
    Queue queue(*device_);
    queue.run(kernel, operands);  // after which the workspace is there
    queue.finish();
  }
  {
    Queue queue(*device_);
    faulty_driver().fail_function("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    try {
      queue.run(kernel, operands);
      ADD_FAILURE() << "the run must throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    faulty_driver().clear();
  }
  // Once it is asked again. Each launch leaves the counters as the next one needs them.
  Queue queue(*device_);
  faulty_driver().fail_function("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, 1, 1);
  for (int run = 0; run < 3; ++run) {
    queue.fill(sums, 0.0F);
    queue.run(kernel, operands);
    const std::vector<float> result = queue.download(sums).get();
    EXPECT_EQ(result, std::vector<float>(kSize * kSize, static_cast<float>(kSum))) << "run " << run;
  }
  faulty_driver().clear();
}

}  // namespace
}  // namespace tessera::fault
