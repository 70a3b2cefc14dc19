// The log on every device: the choice and its reasons, copies to the byte, memory that is given back, and a second
// start that compiles nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "each_device.h"
#include "own_kernels.h"
#include "support/child_process.h"
#include "support/scratch_folder.h"

namespace tessera::testing_support {
namespace {

/// Gathers what is told for as long as it lives.
class Listener {
 public:
  explicit Listener(LogKind kinds) {
    set_log(
        [this](const LogEvent& event) {
          const std::lock_guard lock(mutex_);
          events_.push_back(event);
        },
        kinds);
  }
  ~Listener() { set_log({}); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] std::vector<LogEvent> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  [[nodiscard]] std::map<LogAction, std::uint64_t> bytes() const {
    std::map<LogAction, std::uint64_t> sums;
    for (const LogEvent& event : events()) sums[event.action] += event.size_bytes;
    return sums;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<LogEvent> events_;
};

class LogTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(LogTest);

TEST_P(LogTest, a_choice_is_told_with_what_was_passed_over) {
  const Gemm problem{.m = 37, .n = 29, .k = 23};
  const auto reports = explain(problem, device());
  const Listener listener(LogKind::choice);
  const auto kernel = device().kernel(problem, {.label = "the first layer"});
  const auto forced = device().kernel(problem, {.variant = "naive"});
  const std::vector<LogEvent> events = listener.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].subject, kernel.info().variant);
  EXPECT_EQ(events[0].device, GetParam());
  EXPECT_TRUE(contains(events[0].text, "the first layer"));
  for (const VariantReport& report : reports) {
    if (report.is_default) break;
    EXPECT_TRUE(contains(events[0].text, report.variant + ": "));
    EXPECT_TRUE(contains(events[0].text, report.can_run ? report.passed_over : report.because));
  }
  EXPECT_EQ(events[1].subject, "naive");
  EXPECT_TRUE(contains(events[1].text, "force"));
}

TEST_P(LogTest, copies_are_told_to_the_byte) {
  const Device other = fresh_device();
  const auto there = other.upload<int>(std::vector<int>(555));
  const auto first = device().allocate<int>(1000);
  const auto second = device().allocate<int>(1000);
  const auto pinned = device().allocate_pinned<int>(333);
  std::vector<int> host(1000);
  Queue queue(device(), {.label = "told"});
  const Listener listener(LogKind::copy);
  queue.upload(first, std::vector<int>(1000, 3));
  queue.upload(second.view(0, 333), pinned);
  queue.upload(second, host);
  queue.copy(second.view(7, 100), first.view(3, 100));
  queue.fill(first, 1);
  queue.download(first, host);
  (void)queue.download(second.view(5, 11)).get();
  queue.copy(first.view(0, 555), there);  // through the host
  const auto blocking = device().upload<int>(host);
  queue.finish();
  auto bytes = listener.bytes();
  EXPECT_EQ(bytes[LogAction::upload], 4U * (1000 + 333 + 1000 + 555 + 1000));
  EXPECT_EQ(bytes[LogAction::download], 4U * (1000 + 11 + 555));
  EXPECT_EQ(bytes[LogAction::copy], 4U * 100);
  EXPECT_EQ(listener.events().front().subject, "told");
}

TEST_P(LogTest, what_is_allocated_is_freed_and_given_back) {
  const Listener listener(LogKind::memory);
  {
    const Device device = fresh_device();
    Queue queue(device);
    const auto a = device.allocate<float>(64 * 64, {.label = "a"});
    const auto c = device.allocate<float>(64 * 64);
    const auto pinned = device.allocate_pinned<float>(100);
    for (const VariantReport& report : explain(Gemm{.m = 64, .n = 64, .k = 64}, device)) {
      if (!report.can_run) continue;
      queue.run(device.kernel(Gemm{.m = 64, .n = 64, .k = 64}, {.variant = report.variant}), {.a = a, .b = a, .c = c});
    }
    queue.finish();
    queue.fill(c, 0.0F);  // freed while a queue may still use it
  }
  auto bytes = listener.bytes();
  EXPECT_GE(bytes[LogAction::allocate], 2U * 64 * 64 * 4 + 400);
  EXPECT_EQ(bytes[LogAction::free], bytes[LogAction::allocate]);
  EXPECT_GE(bytes[LogAction::reserve], 2U * 64 * 64 * 4);
  EXPECT_EQ(bytes[LogAction::release], bytes[LogAction::reserve]);
  for (const LogEvent& event : listener.events()) EXPECT_EQ(event.device, GetParam()) << event.text;
}

TEST_P(LogTest, a_function_that_throws_harms_nothing) {
  set_log([](const LogEvent&) { throw std::runtime_error("the function is broken"); });
  {
    const Device device = fresh_device();
    Queue queue(device);
    const auto a = device.upload<float>(std::vector<float>{1, 2, 3, 4});
    const auto c = device.allocate<float>(4);
    queue.run(device.kernel(Gemm{.m = 2, .n = 2, .k = 2}), {.a = a, .b = a, .c = c});
    EXPECT_EQ(queue.download(c).get(), (std::vector<float>{7, 10, 15, 22}));
  }
  set_log({});
}

TEST_P(LogTest, threads_are_heard_to_the_byte) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  const Listener listener(LogKind::copy);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Queue queue(device());
      const auto buffer = device().allocate<std::uint8_t>(1000);
      for (int round = 0; round < kRounds; ++round) {
        queue.upload(buffer.view(0, 100 + i), std::vector<std::uint8_t>(100 + i));
      }
      queue.finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(listener.events().size(), kThreads * kRounds);
  EXPECT_EQ(listener.bytes()[LogAction::upload], kRounds * (100U + 101 + 102 + 103));
}

/// Run by the test below alone, in a process that keeps its programs in a folder of its own.
TEST_P(LogTest, DISABLED_start) {
  const auto product = device().kernel(Gemm{.m = 65, .n = 33, .k = 17}, {.variant = "naive"});
  const auto filtered = device().kernel(
      Conv2d{.height = 9, .width = 9, .filter_height = 3, .filter_width = 3, .filter = std::vector<double>(9, 1)});
}

/// The device's programs of which standard error says this: "compiled" or "found in the cache on disk".
std::set<std::string> programs_that_are(const std::string& what, const std::string& device, const std::string& output) {
  std::set<std::string> names;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::string begin = "tessera compile: program ";
    if (!line.starts_with(begin) || line.find(" for " + device + " " + what + " in ") == line.npos) continue;
    names.insert(line.substr(begin.size(), line.find(" for ") - begin.size()));
  }
  return names;
}

TEST_P(LogTest, a_second_start_finds_its_programs_in_the_cache) {
  const ScratchFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  const auto start = [&] {
    return run_child(
        this_program(),
        {"--gtest_also_run_disabled_tests", "--gtest_filter=api/LogTest.DISABLED_start/" + name_for_tests(GetParam())},
        {{"TESSERA_CACHE_DIR", folder.path()}, {"POCL_CACHE_DIR", folder.path()}, {"TESSERA_LOG", "compile"}});
  };
  const ChildResult first = start();
  const std::set<std::string> written = folder.files();
  const ChildResult second = start();
  EXPECT_EQ(folder.files(), written) << "the second start compiled something";
  ASSERT_EQ(first.status, 0) << first.output;
  ASSERT_EQ(second.status, 0) << second.output;
  for (const ChildResult* child : {&first, &second}) {
    EXPECT_TRUE(contains(child->output, "tessera compile: kernel gemm (naive) for " + GetParam() + " made in "));
  }
  const auto compiled = programs_that_are("compiled", GetParam(), first.output);
  EXPECT_EQ(programs_that_are("found in the cache on disk", GetParam(), first.output), std::set<std::string>())
      << first.output;
  const bool has_compiler = device().info().backend == "opencl";  // the others bring their operators compiled
  EXPECT_TRUE(!has_compiler || (compiled.size() >= 2 && !written.empty())) << first.output;
  EXPECT_EQ(programs_that_are("compiled", GetParam(), second.output), std::set<std::string>()) << second.output;
  EXPECT_EQ(programs_that_are("found in the cache on disk", GetParam(), second.output), compiled) << second.output;
}

}  // namespace
}  // namespace tessera::testing_support
