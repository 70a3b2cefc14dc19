// fork(): what a child process can do with the CPU's devices, before and after its parent has used them. No child
// hangs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tessera/tessera.h>

/// AddressSanitizer asks for it: a child that exits leaves to the system what its parent had opened.
extern "C" const char* __asan_default_options();
const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace tessera::fault {
namespace {

constexpr unsigned kSeconds = 20;

/// Runs `action` in a child process, which then calls exit(); its status, -1 if a signal ended it.
int status_of_child(const std::function<bool()>& action) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    bool is_right = false;
    try {
      is_right = action();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    std::exit(is_right ? 0 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

/// Copies that are spread over threads, and a product.
bool computes(const Device& device) {
  constexpr std::size_t kCount = std::size_t{1} << 21;
  constexpr std::size_t kSide = 256;
  Queue queue(device);
  const auto ones = device.allocate<float>(kCount);
  queue.fill(ones, 1.0F);
  const auto product = device.allocate<float>(kSide * kSide);
  const auto kernel = device.kernel(Gemm{.m = kSide, .n = kSide, .k = kSide});
  queue.run(kernel, {.a = ones.view(0, kSide * kSide), .b = ones.view(kSide * kSide, kSide * kSide), .c = product});
  return queue.download(product).get() == std::vector<float>(kSide * kSide, float{kSide}) &&
         queue.download(ones).get() == std::vector<float>(kCount, 1.0F);
}

class ForkTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(api, ForkTest, testing::Values("cpu:0", "cpu:1"),
                         [](const auto& test) { return test.param.substr(0, 3) + "_" + test.param.substr(4, 1); });

/// Before any other test of this process has opened a device: ctest runs each test in a process of its own.
TEST_P(ForkTest, a_child_of_a_process_that_only_listed_devices) {
  ASSERT_FALSE(devices().empty());
  EXPECT_EQ(status_of_child([] { return computes(open(GetParam() + "?threads=2")); }), 0);
}

TEST_P(ForkTest, a_child_opens_a_device_anew) {
  const Device device = open(GetParam() + "?threads=2");
  ASSERT_TRUE(computes(device));
  EXPECT_EQ(status_of_child([] {
              const Device anew = open(GetParam() + "?threads=2");
              // oneTBB's threads stayed with the parent, and it starts no others; those of cpu:1 are its own.
              const std::uint32_t threads = GetParam() == "cpu:0" ? 1 : 2;
              if (anew.info().compute_units != threads) std::fprintf(stderr, "%u threads\n", anew.info().compute_units);
              return computes(anew) && computes(anew) && anew.info().compute_units == threads;
            }),
            0);
  EXPECT_TRUE(computes(device)) << "the parent goes on";
}

TEST_P(ForkTest, a_child_of_a_child_opens_a_device_anew) {
  ASSERT_TRUE(computes(open(GetParam())));
  EXPECT_EQ(status_of_child([] {
              return computes(open(GetParam())) && status_of_child([] { return computes(open(GetParam())); }) == 0;
            }),
            0);
}

TEST_P(ForkTest, a_child_is_told_that_a_device_was_opened_before) {
  const Device device = open(GetParam() + "?threads=2");
  std::optional<Queue> queue(device);
  const auto buffer = device.allocate<float>(1000);
  queue->fill(buffer, 1.0F);
  queue->finish();
  EXPECT_EQ(status_of_child([&] {
              try {
                queue->fill(buffer, 2.0F);
                queue->finish();
              } catch (const Error& error) {
                return error.code() == ErrorCode::unavailable && error.sentence().find("fork") != std::string::npos;
              }
              return false;
            }),
            0);
}

TEST_P(ForkTest, a_child_exits_while_handles_of_its_parent_live_and_work_is_under_way) {
  static std::optional<Device> device;
  static std::optional<Queue> queue;
  static std::optional<Buffer<float>> buffer;
  device.emplace(open(GetParam() + "?threads=2"));
  queue.emplace(*device);
  buffer.emplace(device->allocate<float>(std::size_t{1} << 24));
  for (int round = 0; round < 5; ++round) queue->fill(*buffer, 1.0F);
  EXPECT_EQ(status_of_child([] { return true; }), 0) << "exit() runs the destructors of static objects";
  EXPECT_EQ(status_of_child([] {
              queue.reset();
              buffer.reset();
              device.reset();
              return true;
            }),
            0);
  queue->finish();
  queue.reset();
  buffer.reset();
  device.reset();
}

}  // namespace
}  // namespace tessera::fault
