// The CUDA backend at the seam, call by call: what a stream may still use stays until it is past, drain() says when,
// and a constructor that fails half-way leaves nothing.
#include <gtest/gtest.h>

#include <tessera/ops/conv2d.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "fault/cuda/plugin.h"

namespace tessera::fault {
namespace {

// CUresults, as cuda.h numbers them.
constexpr int kOutOfMemory = 2;
constexpr int kOperatingSystem = 304;
constexpr int kIllegalAddress = 700;
constexpr int kUnknown = 999;

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr auto kWhile = std::chrono::milliseconds(150);
constexpr auto kByte = std::byte{0x5A};

class CudaFaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const backend::Probe probe = plugin_backend().probe();
    ASSERT_TRUE(probe.ready) << probe.reason;
    if (fake_card() == nullptr) GTEST_SKIP() << "the driver is a real one, which cannot be told to be slow or to die";
    misuses_before_ = fake_card()->misuses();
    leaked_before_ = leaked();
    device_ = plugin_backend().open(0, {});
  }

  void TearDown() override {
    driver_faults().plan({});
    busy_.reset();
    device_.reset();
    if (fake_card() == nullptr) return;
    EXPECT_EQ(fake_card()->misuses(), misuses_before_);
    EXPECT_EQ(leaked(), leaked_before_) << driver_faults().describe_objects();
  }

  /// Objects of the driver's, but for those whose release was refused.
  static long leaked() { return driver_faults().objects() - driver_faults().refused_releases(); }

  static void fail(const char* function, long first, long last, int code) {
    driver_faults().plan({function, first, last, code});
  }
  static void fail_once(const char* function, int code) { fail(function, 1, 1, code); }
  static void fail_for_good(const char* function, int code) { fail(function, 1, LONG_MAX, code); }

  /// Puts a kernel of so long on the queue.
  void keep_busy(backend::Queue& queue, std::chrono::microseconds time = kWhile) {
    if (busy_ == nullptr) busy_ = device_->allocate(64);
    constexpr std::uint64_t kPattern = 0x0102030405060708;
    fake_card()->set_kernel_us(static_cast<int>(time.count()));
    queue.fill({busy_.get(), 0, 64}, std::as_bytes(std::span(&kPattern, 1)));
  }

  std::unique_ptr<backend::Buffer> filled(std::size_t bytes) {
    auto memory = device_->allocate(bytes);
    const auto queue = device_->make_queue();
    queue->fill({memory.get(), 0, bytes}, std::span(&kByte, 1));
    queue->finish();
    return memory;
  }

  std::unique_ptr<backend::Device> device_;
  std::unique_ptr<backend::Buffer> busy_;

 private:
  long misuses_before_ = 0;
  long leaked_before_ = 0;
};

bool holds(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [&](std::byte byte) { return byte == value; });
}

/// The first piece is on its way when the second is refused: its record must be there when the host function comes.
TEST_F(CudaFaultTest, a_download_whose_second_piece_is_refused_keeps_the_first_ones) {
  for (const char* refused : {"cuMemcpyDtoHAsync", "cuLaunchHostFunc"}) {
    const auto memory = filled(3 * kPieceBytes);
    const auto queue = device_->make_queue();
    std::vector<std::byte> host(3 * kPieceBytes);
    keep_busy(*queue);
    fail(refused, 2, 2, kOperatingSystem);
    EXPECT_THROW(queue->download(host.data(), {memory.get(), 0, host.size()}), Error);
    EXPECT_TRUE(queue->drain());
    EXPECT_TRUE(holds(std::span(host).first(kPieceBytes), kByte)) << refused;
    EXPECT_TRUE(holds(std::span(host).subspan(kPieceBytes), std::byte{0})) << refused;
    host = {};
  }
}

TEST_F(CudaFaultTest, an_upload_whose_second_piece_is_refused_keeps_the_first_ones) {
  for (const char* refused : {"cuMemcpyHtoDAsync", "cuLaunchHostFunc"}) {
    const auto memory = device_->allocate(3 * kPieceBytes);
    const auto queue = device_->make_queue();
    std::vector<std::byte> host(3 * kPieceBytes, kByte);
    keep_busy(*queue);
    fail(refused, 2, 2, kOperatingSystem);
    EXPECT_THROW(queue->upload({memory.get(), 0, host.size()}, host.data()), Error);
    EXPECT_TRUE(queue->drain());
    std::vector<std::byte> back(kPieceBytes);
    queue->download(back.data(), {memory.get(), 0, back.size()});
    queue->finish();
    EXPECT_TRUE(holds(back, kByte)) << refused;
  }
}

TEST_F(CudaFaultTest, without_page_locked_memory_copies_are_right_all_the_same) {
  const auto memory = device_->allocate(3 * kPieceBytes);
  const auto queue = device_->make_queue();
  const std::vector<std::byte> host(3 * kPieceBytes, kByte);
  std::vector<std::byte> back(host.size());
  fail_for_good("cuMemHostAlloc", kOutOfMemory);
  queue->upload({memory.get(), 0, host.size()}, host.data());
  queue->download(back.data(), {memory.get(), 0, back.size()});
  queue->finish();
  EXPECT_GE(driver_faults().calls(), 2) << "nothing asked for page-locked memory";
  EXPECT_EQ(back, host);
}

/// One refusal, whatever it says, is neither taken for the end of the work nor for that of the card.
TEST_F(CudaFaultTest, drain_asks_again) {
  for (const char* function : {"cuStreamSynchronize", "cuCtxSetCurrent"}) {
    for (const int code : {kOutOfMemory, kOperatingSystem, kIllegalAddress, kUnknown}) {
      const auto queue = device_->make_queue();
      const auto memory = filled(64);
      std::vector<std::byte> host(64);
      keep_busy(*queue);
      queue->download(host.data(), {memory.get(), 0, host.size()});
      fail_once(function, code);
      bool is_drained = false;
      std::thread([&] { is_drained = queue->drain(); }).join();  // where the context is not yet current
      EXPECT_TRUE(is_drained);
      EXPECT_GT(driver_faults().calls(), 1) << function << " was not asked again after " << code;
      EXPECT_TRUE(holds(host, kByte)) << function << " " << code;
      driver_faults().plan({});
    }
  }
}

TEST_F(CudaFaultTest, drain_does_not_promise_what_the_driver_does_not_tell) {
  const auto queue = device_->make_queue();
  keep_busy(*queue);
  fail_for_good("cuStreamSynchronize", kOperatingSystem);
  EXPECT_FALSE(queue->drain());
  driver_faults().plan({});
  EXPECT_TRUE(queue->drain());
}

/// A host function whose turn has come when the card dies may be called much later. It must find that it is not wanted.
TEST_F(CudaFaultTest, after_the_cards_death_no_host_function_touches_memory) {
  const auto memory = filled(64);
  auto queue = device_->make_queue();
  std::vector<std::byte> host(64);
  fake_card()->set_host_function_us(static_cast<int>(std::chrono::microseconds(kWhile).count()));
  queue->download(host.data(), {memory.get(), 0, host.size()});
  std::this_thread::sleep_for(kWhile / 3);
  fake_card()->kill(kIllegalAddress);
  EXPECT_THROW(queue->finish(), Error);
  EXPECT_TRUE(queue->drain());
  queue.reset();
  std::this_thread::sleep_for(2 * kWhile);
  EXPECT_TRUE(holds(host, std::byte{0})) << "a host function wrote after drain()";
  fake_card()->set_host_function_us(0);
  fake_card()->revive();
}

TEST_F(CudaFaultTest, a_refused_wait_throws) {
  const auto first = device_->make_queue();
  const auto second = device_->make_queue();
  const auto event = first->record();
  fail_once("cuStreamWaitEvent", kOperatingSystem);
  EXPECT_THROW(second->wait(*event), Error);
  EXPECT_TRUE(first->drain());
  EXPECT_TRUE(second->drain());
}

class CudaKernelFaultTest : public CudaFaultTest {
 protected:
  std::unique_ptr<backend::Kernel> make_tiled() {
    const Conv2d problem{
        .height = 60, .width = 50, .filter_height = 3, .filter_width = 3, .filter = std::vector<double>(9, 1)};
    for (const auto& variant : plugin_backend().operators().list<Conv2d>()) {
      if (variant.name == "tiled") return variant.make(problem, *device_, {{"tile", 16}});
    }
    return nullptr;
  }
};

TEST_F(CudaKernelFaultTest, a_kernel_tells_what_it_holds) {
  EXPECT_EQ(make_tiled()->held_bytes(), 9 * sizeof(float));
}

/// The weights' upload is under way, and nobody can say for how long: all of it stays, until trim() finds it over.
TEST_F(CudaKernelFaultTest, a_table_whose_upload_is_not_known_to_be_over_stays) {
  static_cast<void>(make_tiled());  // loads the image, which stays
  fail_for_good("cuStreamSynchronize", kOperatingSystem);
  fake_card()->set_host_function_us(static_cast<int>(std::chrono::microseconds(kWhile).count()));
  const long before = leaked();
  EXPECT_THROW(static_cast<void>(make_tiled()), Error);
  EXPECT_GT(leaked(), before) << "something went while the upload ran";
  driver_faults().plan({});
  static_cast<void>(device_->trim());
  EXPECT_EQ(leaked(), before);
  fake_card()->set_host_function_us(0);
}

TEST_F(CudaKernelFaultTest, making_a_kernel_leaves_nothing_behind_a_failure) {
  static_cast<void>(make_tiled());  // loads the image, which stays
  static_cast<void>(device_->trim());
  const long before = leaked();
  for (long call = 1;; ++call) {
    fail("", call, call, kOutOfMemory);
    bool failed = false;
    try {
      static_cast<void>(make_tiled());
    } catch (const Error& error) {
      failed = true;
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    const bool ends = driver_faults().calls() < call;
    driver_faults().plan({});
    static_cast<void>(device_->trim());
    EXPECT_EQ(leaked(), before) << "call " << call << ": " << driver_faults().describe_objects();
    if (ends) {
      EXPECT_FALSE(failed);
      break;
    }
  }
}

TEST_F(CudaFaultTest, a_queue_and_a_device_leave_nothing_behind_a_failure) {
  for (long call = 1;; ++call) {
    const long before = leaked();
    fail("", call, call, kOutOfMemory);
    try {
      const auto device = plugin_backend().open(0, {});
      const auto queue = device->make_queue();
      try {
        const auto event = queue->record();
      } catch (const Error&) {
      }
      EXPECT_TRUE(queue->drain());
    } catch (const Error&) {
    }
    const bool ends = driver_faults().calls() < call;
    driver_faults().plan({});
    EXPECT_EQ(leaked(), before) << "call " << call << ": " << driver_faults().describe_objects();
    if (ends) break;
  }
}

TEST_F(CudaFaultTest, a_watch_tells_what_the_driver_says_and_fails_no_launch) {
  const auto queue = device_->make_queue();
  queue->watch_launches();
  keep_busy(*queue, std::chrono::microseconds(1));
  keep_busy(*queue, std::chrono::microseconds(1));
  const std::vector<LaunchFacts> facts = queue->watched_launches();
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].launches, 2U);
  EXPECT_EQ(facts[0].groups, 1U);
  EXPECT_EQ(facts[0].registers, 40U) << "the fake driver says so of every function";
  const std::uint64_t fit = 65536 / 40 / facts[0].group_size;
  EXPECT_EQ(facts[0].groups_per_unit, fit);
  EXPECT_DOUBLE_EQ(facts[0].occupancy.value_or(0), static_cast<double>(fit * facts[0].group_size) / 2048);

  queue->watch_launches();
  fail_for_good("cuOccupancyMaxActiveBlocksPerMultiprocessor", kUnknown);
  keep_busy(*queue, std::chrono::microseconds(1));
  driver_faults().plan({});
  const std::vector<LaunchFacts> fewer = queue->watched_launches();
  ASSERT_EQ(fewer.size(), 1U);
  EXPECT_EQ(fewer[0].registers, 40U);
  EXPECT_FALSE(fewer[0].groups_per_unit || fewer[0].occupancy);
  queue->finish();
}

}  // namespace
}  // namespace tessera::fault
