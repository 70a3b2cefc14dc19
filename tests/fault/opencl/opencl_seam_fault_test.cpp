// What the plug-in promises the front half when the driver fails: driven through the seam, without the front half.
#include <gtest/gtest.h>

#include <CL/cl.h>
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include <tessera/tessera.h>

#include "backend/backend.h"
#include "opencl/faulty_driver.h"
#include "opencl/slow_command.h"

namespace tessera::fault {
namespace {

using Clock = std::chrono::steady_clock;

/// A backend of this file's own beside the front half's, out of the same plug-in; never destroyed.
backend::Backend& opencl() {
  static backend::Backend& made = [] {
    for (const BackendInfo& info : backends()) {
      if (info.name != "opencl") continue;
      void* const library = dlopen(info.plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
      const auto entry = reinterpret_cast<backend::PluginEntryFunction>(dlsym(library, "tessera_backend_entry"));
      return std::ref(*entry(backend::kSeamVersion).make());
    }
    std::abort();
  }();
  static const backend::Probe probe = made.probe();
  if (!probe.ready) std::abort();
  return made;
}

/// Queues the slow kernel on a queue of its own, behind which `y` holds -1 - s.
class OpenclSeamFaultTest : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 1000;
  static constexpr std::size_t kBytes = kCount * sizeof(float);

  void SetUp() override {
    faulty_driver().clear();
    device_ = opencl().open(0, {});
    slow_ = device_->compile(slow_source());
    y_ = device_->allocate(kBytes);
    queue_ = device_->make_queue();
    launch_slow(1);
    queue_->finish();
  }
  void TearDown() override {
    faulty_driver().clear();
    EXPECT_TRUE(queue_->drain());
    queue_.reset();
    y_.reset();
    slow_.reset();
    device_.reset();
    EXPECT_EQ(alive_text(), "");
  }

  void launch_slow(std::int32_t rounds = kSlowRounds) {
    std::array<backend::Argument, 3> arguments;
    arguments[0] = {.kind = ParameterKind::output, .type = DataType::float32, .buffer = {y_.get(), 0, kBytes}};
    arguments[1] = {.kind = ParameterKind::scalar, .type = DataType::int32, .buffer = {}};
    arguments[2] = {.kind = ParameterKind::scalar, .type = DataType::int32, .buffer = {}};
    const auto count = static_cast<std::int32_t>(kCount);
    std::memcpy(arguments[1].scalar.data(), &rounds, sizeof(rounds));
    std::memcpy(arguments[2].scalar.data(), &count, sizeof(count));
    slow_->launch(*queue_, {.groups = {1}, .group_size = {1}}, arguments);
  }

  std::vector<std::uint8_t> download(backend::Buffer& buffer, std::size_t size) const {
    std::vector<std::uint8_t> bytes(size);
    const auto queue = device_->make_queue();
    queue->download(bytes.data(), {&buffer, 0, size});
    queue->finish();
    return bytes;
  }

  std::unique_ptr<backend::Device> device_;
  std::unique_ptr<backend::OwnKernel> slow_;
  std::unique_ptr<backend::Buffer> y_;
  std::unique_ptr<backend::Queue> queue_;
};

std::vector<std::uint8_t> counted_bytes(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

// OpenCL lets a blocking write return before the bytes are there. They must not come after another queue's.
TEST_F(OpenclSeamFaultTest, a_new_buffer_is_left_alone) {
  constexpr std::size_t kSize = 196;
  faulty_driver().delay_blocking_writes(50);
  const auto buffer = device_->allocate(kSize);
  const std::vector<std::uint8_t> bytes = counted_bytes(kSize);
  const auto queue = device_->make_queue();
  queue->upload({buffer.get(), 0, kSize}, bytes.data());
  queue->finish();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(download(*buffer, kSize), bytes);
}

TEST_F(OpenclSeamFaultTest, weights_are_there_when_a_kernel_is_made) {
  // 2 x 8 of integers: a kernel with its weights in a buffer of its own, whose segments of 8 need no filling up.
  const Conv2d problem{.height = 2,
                       .width = 8,
                       .filter_height = 2,
                       .filter_width = 8,
                       .filter = std::vector<double>(16, 1.0),
                       .border = Border::valid,
                       .anchor_y = 0,
                       .anchor_x = 0,
                       .type = DataType::int32};
  for (const auto& variant : opencl().operators().list<Conv2d>()) {
    if (!variant.check(problem, *device_)) continue;
    SCOPED_TRACE(variant.name);
    Tuning tuning;
    if (variant.tunables != nullptr) {
      for (const Tunable& tunable : variant.tunables(problem, *device_)) tuning[tunable.name] = tunable.preferred;
    }
    const auto image = device_->allocate(16 * sizeof(std::int32_t));
    const auto output = device_->allocate(sizeof(std::int32_t));
    const auto queue = device_->make_queue();
    const std::vector<std::int32_t> ones(16, 1);
    queue->upload({image.get(), 0, 64}, ones.data());
    queue->finish();
    faulty_driver().delay_blocking_writes(50);
    const auto kernel = variant.make(problem, *device_, tuning);
    faulty_driver().clear();
    EXPECT_EQ(kernel->held_bytes(), 16 * sizeof(std::int32_t));
    for (const int wait_ms : {0, 100}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
      const std::array<backend::Slice, 2> operands{backend::Slice{image.get(), 0, 64},
                                                   backend::Slice{output.get(), 0, 4}};
      kernel->launch(*queue, operands, {});
      std::int32_t result = 0;
      queue->download(&result, {output.get(), 0, 4});
      queue->finish();
      EXPECT_EQ(result, 16);
    }
  }
}

// Each way in which drain() asks is taken away from it in turn.
TEST_F(OpenclSeamFaultTest, drain_asks_again) {
  launch_slow();
  faulty_driver().fail_function("clFinish", CL_OUT_OF_HOST_MEMORY, 1, 1);
  EXPECT_TRUE(queue_->drain());
  EXPECT_EQ(faulty_driver().failures(), 1);
  EXPECT_EQ(faulty_driver().unconfirmed_queues(), 0);
}

TEST_F(OpenclSeamFaultTest, drain_asks_by_a_marker) {
  launch_slow();
  faulty_driver().fail_function("clFinish", CL_OUT_OF_HOST_MEMORY);
  EXPECT_TRUE(queue_->drain());
  EXPECT_EQ(faulty_driver().unconfirmed_queues(), 0);
}

TEST_F(OpenclSeamFaultTest, drain_looks_again_and_again) {
  launch_slow();
  const auto behind = queue_->record();
  faulty_driver().fail_function("clFinish", CL_OUT_OF_HOST_MEMORY);
  faulty_driver().fail_function("clWaitForEvents", CL_INVALID_OPERATION);
  EXPECT_TRUE(queue_->drain());
  faulty_driver().clear();
  EXPECT_TRUE(behind->is_done());
}

TEST_F(OpenclSeamFaultTest, drain_does_not_guess) {
  launch_slow();
  for (const int code : {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, CL_INVALID_OPERATION}) {
    SCOPED_TRACE(code);
    for (const char* function : {"clFinish", "clWaitForEvents", "clGetEventInfo"}) {
      faulty_driver().fail_function(function, code);
    }
    EXPECT_FALSE(queue_->drain());
    faulty_driver().fail_function("clEnqueueMarkerWithWaitList", code);
    const auto start = Clock::now();
    EXPECT_FALSE(queue_->drain());
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(1));
    faulty_driver().clear();
  }
  EXPECT_TRUE(queue_->drain());
}

TEST_F(OpenclSeamFaultTest, a_code_of_a_lost_device_is_no_lost_device) {
  launch_slow();
  // Only calls on the queue answer so. The device's own queue, which drain() asks last, is well.
  faulty_driver().fail_function("clFinish", CL_INVALID_COMMAND_QUEUE, 1, 1);
  faulty_driver().fail_function("clEnqueueMarkerWithWaitList", CL_INVALID_COMMAND_QUEUE, 1, 1);
  EXPECT_FALSE(queue_->drain());
  faulty_driver().clear();
  EXPECT_TRUE(queue_->drain());
}

TEST_F(OpenclSeamFaultTest, a_lost_device_is_past) {
  launch_slow();
  faulty_driver().lose_device();
  EXPECT_TRUE(queue_->drain());
  try {
    queue_->finish();
    ADD_FAILURE() << "finish() must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost) << error.what();
  }
}

/// The code of a buffer's allocation while a driver's function fails for good.
ErrorCode code_while(backend::Device& device, const char* function, int code) {
  faulty_driver().fail_function(function, code);
  ErrorCode seen = ErrorCode::internal;
  try {
    static_cast<void>(device.allocate(4096));
  } catch (const Error& error) {
    seen = error.code();
  }
  faulty_driver().clear();
  return seen;
}

TEST_F(OpenclSeamFaultTest, a_shortage_is_out_of_memory) {
  for (const int code : {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE}) {
    SCOPED_TRACE(code);
    EXPECT_EQ(code_while(*device_, "clCreateBuffer", code), ErrorCode::out_of_memory);
    EXPECT_EQ(code_while(*device_, "clEnqueueWriteBuffer", code), ErrorCode::out_of_memory);
    EXPECT_EQ(code_while(*device_, "clFinish", code), ErrorCode::out_of_memory);
  }
}

TEST_F(OpenclSeamFaultTest, a_refused_unmap_leaves_nothing) {
  for (const long count : {1L, 0L}) {
    auto pinned = device_->allocate_pinned(4096);
    std::memset(pinned->data(), 1, 4096);
    faulty_driver().fail_function("clEnqueueUnmapMemObject", CL_OUT_OF_HOST_MEMORY, 1, count);
    pinned.reset();
    EXPECT_GT(faulty_driver().failures(), 0);
    faulty_driver().clear();
    EXPECT_EQ(faulty_driver().alive().count("Mapping"), 0U);
  }
}

TEST_F(OpenclSeamFaultTest, a_map_that_is_not_finished_is_taken_back) {
  faulty_driver().fail_function("clFinish", CL_OUT_OF_HOST_MEMORY);
  EXPECT_THROW(static_cast<void>(device_->allocate_pinned(4096)), Error);
  EXPECT_EQ(faulty_driver().alive().count("Mapping"), 0U);
}

}  // namespace
}  // namespace tessera::fault
