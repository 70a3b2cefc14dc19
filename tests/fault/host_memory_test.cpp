// A process without memory: every allocation of one pass over the API fails in turn. Each pass ends right or with
// tessera::Error, frees nothing that is in use, and leaves the library whole.
#include "scripted_test.h"
#include "support/allocation_faults.h"

namespace tessera::testing {
namespace {

class HostMemoryTest : public ScriptedTest {};

/// What the program itself takes memory for, made before allocations fail.
struct Program {
  QueueOptions queue_options{.label = "a queue with a name that is too long for a short string"};
  BufferOptions buffer_options{.label = "a buffer with a name that is too long as well"};
  std::vector<int> nines = std::vector<int>(100, 9);
  std::vector<int> given_away = nines;
  std::vector<float> ones = std::vector<float>(16, 1.0F);
  std::vector<float> zeros = std::vector<float>(16, 0.0F);
};

/// Every kind of call, with a queue that runs behind. Throws what the library throws; false for a wrong result.
bool pass(Program program) {
  const Device device = open("scripted:0");
  Queue queue(device, program.queue_options);
  Queue other(device);
  const auto a = device.allocate<int>(100, program.buffer_options);
  const auto b = device.allocate<int>(100);
  queue.fill(a, 4);
  const Event event = queue.record();
  other.wait(event);
  other.copy(b, a);
  const auto pinned = device.allocate_pinned<int>(100);
  other.download(b, pinned);
  other.upload(a, std::move(program.given_away));
  auto found = other.download(a);
  const auto kernel = device.kernel(Gemm{.m = 4, .n = 4, .k = 4});
  const auto c = device.allocate<float>(16);
  const auto operand = device.upload<float>(program.ones);
  queue.run(kernel, {.a = operand, .b = operand, .c = c});
  const bool is_zero = queue.download(c).get() == program.zeros;
  other.finish();
  (void)device.memory();
  (void)device.trim();
  return is_zero && found.get() == program.nines && pinned[99] == 4;
}

void expect_passes_with_failures(bool for_good) {
  (void)pass({});  // what is made once for the process is there
  long failed = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 5000U) << "the pass never gets by without a failing allocation";
    bool is_right = false;
    bool has_thrown = false;
    const char* foreign = "a wrong result";
    Program program;
    fault::arm_allocations_of_any_code(nth, for_good);
    try {
      is_right = pass(std::move(program));
    } catch (const Error&) {
      has_thrown = true;
    } catch (...) {
      foreign = "an exception that is no tessera::Error";
    }
    const std::uint64_t asked = fault::disarm_allocations();
    EXPECT_TRUE(is_right || has_thrown) << "allocation " << nth << " fails: " << foreign;
    EXPECT_EQ(script().violations, 0) << "allocation " << nth << " fails";
    EXPECT_EQ(script().queues, 0) << "allocation " << nth << " fails";
    if (asked < nth) break;
    ++failed;
  }
  EXPECT_GT(failed, 50) << "hardly anything was made to fail";
  EXPECT_TRUE(pass({}));
}

TEST_F(HostMemoryTest, every_allocation_fails_once) {
  expect_passes_with_failures(false);
}
TEST_F(HostMemoryTest, from_every_allocation_on_all_fail) {
  expect_passes_with_failures(true);
}

TEST_F(HostMemoryTest, buffers_and_queues_go_without_memory) {
  const Device device = open("scripted:0");
  Queue queue(device);
  std::vector<Buffer<int>> buffers;
  for (int i = 0; i < 50; ++i) buffers.push_back(device.allocate<int>(100));
  script().hold();
  for (const auto& buffer : buffers) queue.fill(buffer, 1);
  fault::arm_allocations_of_any_code(1, true);
  buffers.clear();  // in use: they wait in the allocator's book
  script().release();
  try {
    queue.finish();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
  }
  fault::disarm_allocations();
  queue.finish();
  EXPECT_GE(device.memory().cached_bytes, 50U * 400U);
}

TEST_F(HostMemoryTest, what_a_command_works_on_is_kept_before_it_is_queued) {
  const Device device = open("scripted:0");
  const auto a = device.upload<int>(std::vector<int>(1000, 1));
  int failures = 0;
  for (std::uint64_t nth = 1; nth < 20; ++nth) {
    Queue queue(device);
    script().hold();
    const ReleasedLater later(std::chrono::milliseconds(2));
    fault::arm_allocations_of_any_code(nth);
    try {
      (void)queue.download(a);  // the vector's only other owner is the queue
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      ++failures;
    }
    fault::disarm_allocations();
    try {
      queue.finish();  // under AddressSanitizer, a write into the freed vector is seen
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    }
  }
  EXPECT_GT(failures, 3);
}

}  // namespace
}  // namespace tessera::testing
