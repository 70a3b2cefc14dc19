// Running out of memory, on every device: whatever asks, everything that this process caches of the same memory is
// given back first.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "each_device.h"
#include "own_kernels.h"

namespace tessera::testing_support {
namespace {

class ShortageTest : public EachDevice {
 protected:
  /// 60 % of what is free; 0 if no buffer may be so large.
  [[nodiscard]] static std::size_t most_of(const Device& device) {
    const DeviceInfo info = device.info();
    const std::uint64_t free = info.memory_free_bytes != 0 ? info.memory_free_bytes : info.memory_total_bytes;
    const std::uint64_t wanted = free / 10 * 6;
    return info.max_allocation_bytes < wanted / 4 * 5 ? 0 : static_cast<std::size_t>(wanted);
  }
  /// Does the device refuse what it does not have? An OpenCL driver for the CPU gives more memory than there is, and
  /// the system ends a process that uses it; a backend that runs functions on the CPU keeps its own books.
  [[nodiscard]] bool is_bounded() const {
    const DeviceInfo info = device().info();
    return info.kind != DeviceKind::cpu || takes_functions(device());
  }
};
TESSERA_ON_EACH_DEVICE(ShortageTest);

TEST_P(ShortageTest, reaches_what_every_opening_of_the_memory_caches) {
  const Device device = fresh_device();
  const std::size_t most = most_of(device);
  if (!is_bounded() || most == 0) GTEST_SKIP() << "this driver does not say how much there is";
  const Device again = fresh_device();
  for (const Device* asking : {&device, &again}) {
    { const auto buffer = device.allocate<std::uint8_t>(most); }
    EXPECT_GE(device.memory().cached_bytes, most);
    const auto larger = asking->allocate<std::uint8_t>(most / 4 * 5);
    EXPECT_EQ(device.memory().cached_bytes, 0U);
  }
  EXPECT_EQ(device.trim(), 0U);
  EXPECT_GE(again.trim(), most);
}

TEST_P(ShortageTest, reaches_the_neighbour_on_the_same_memory) {
  if (GetParam() != "cpu:0") GTEST_SKIP() << "cpu:0 and cpu:1 share memory for certain";
  const Device device = fresh_device();
  const Device neighbour = open("cpu:1");
  const std::size_t most = most_of(device);
  { const auto buffer = device.allocate<std::uint8_t>(most); }
  const auto larger = neighbour.allocate<std::uint8_t>(most / 4 * 5, {.label = "the neighbour's"});
  EXPECT_EQ(device.memory().cached_bytes, 0U);
  const Refusal refusal = refusal_of([&] { (void)device.allocate<std::uint8_t>(most); });
  EXPECT_EQ(refusal.code, ErrorCode::out_of_memory);
  EXPECT_TRUE(contains(refusal.what, "the neighbour's"));
  const Refusal pinned = refusal_of([&] { (void)device.allocate_pinned<std::uint8_t>(most); });
  EXPECT_EQ(pinned.code, ErrorCode::out_of_memory);
  EXPECT_TRUE(contains(pinned.what, "the neighbour's"));
}

TEST_P(ShortageTest, two_threads_wait_for_what_is_pending) {
  const Device device = fresh_device();
  if (!takes_functions(device)) GTEST_SKIP() << "only a function of the program can sleep";
  const auto part =
      static_cast<std::size_t>(std::min(device.info().memory_free_bytes, device.info().memory_total_bytes)) / 100 * 30;
  const OwnKernel sleeps =
      device.compile({.name = "sleeps",
                      .parameters = {output<std::uint8_t>("a"), output<std::uint8_t>("b")},
                      .cpu = [](const WorkGroup&, std::span<std::uint8_t>, std::span<std::uint8_t>) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(200));
                      }});
  const auto live = device.allocate<std::uint8_t>(part);
  Queue queue(device);
  {
    const auto a = device.allocate<std::uint8_t>(part);
    const auto b = device.allocate<std::uint8_t>(part);
    queue.launch(sleeps, {}, a, b);
  }
  std::atomic<int> failures{0};
  const auto take = [&] {
    try {
      const auto buffer = device.allocate<std::uint8_t>(part);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    } catch (const Error&) {
      ++failures;
    }
  };
  std::thread first(take);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::thread second(take);
  first.join();
  second.join();
  EXPECT_EQ(failures, 0);
}

TEST_P(ShortageTest, workspaces_of_idle_queues_are_given_back) {
  const Device device = fresh_device();
  std::string variant;
  const CnnLayer layer{.input_channels = 32,
                       .output_channels = 32,
                       .height = 16,
                       .width = 16,
                       .filter_height = 3,
                       .filter_width = 3,
                       .relu = false,
                       .bias = false};
  for (const VariantReport& report : explain(layer, device)) {
    if (report.can_run && device.kernel(layer, {.variant = report.variant}).info().prepared_bytes != 0) {
      variant = report.variant;
      break;
    }
  }
  if (variant.empty()) GTEST_SKIP() << "no variant here has prepared weights";
  const auto kernel = device.kernel(layer, {.variant = variant});
  const auto image = device.upload<float>(std::vector<float>(32 * 256, 1.0F));
  const auto weights = device.upload<float>(std::vector<float>(32 * 32 * 9, 0.5F));
  const auto out = device.allocate<float>(32 * 14 * 14);
  const std::uint64_t own = device.memory().in_use_bytes;
  Queue queue(device);
  for (int round = 0; round < 2; ++round) {
    queue.run(kernel, {.input = image, .weights = weights, .bias = {}, .output = out});  // raw: prepared in a workspace
    queue.finish();
    EXPECT_GT(device.memory().in_use_bytes, own);
    EXPECT_GE(device.trim(), kernel.info().prepared_bytes);
    EXPECT_EQ(device.memory().in_use_bytes, own);
  }
  EXPECT_NEAR(queue.download(out).get().front(), 144.0F, 0.01F);
}

}  // namespace
}  // namespace tessera::testing_support
