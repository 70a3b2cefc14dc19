// The trace on every device: it is whole JSON, its events nest, they say what was asked for, and their times are those
// at which it happened.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "delay.h"
#include "each_device.h"
#include "support/child_process.h"
#include "support/scratch_folder.h"

namespace tessera::testing_support {
namespace {

using TraceJson = nlohmann::json;
using TraceClock = std::chrono::steady_clock;

/// Two clocks are compared to about this much, also on a busy machine.
constexpr double kClocksAgree_us = 20e3;

/// A trace as it was read: spans by the line that they stand on, sorted by their begin, longest first.
struct ReadTrace {
  std::map<std::pair<int, int>, std::vector<TraceJson>> lines;
  std::map<std::pair<int, int>, std::string> names;  ///< of lines
  std::map<int, std::string> processes;
  std::vector<TraceJson> remarks;

  /// The only line of that name.
  [[nodiscard]] std::vector<TraceJson> line(const std::string& name) const {
    std::vector<TraceJson> found;
    for (const auto& [place, its_name] : names) {
      if (its_name == name && lines.contains(place))
        found.insert(found.end(), lines.at(place).begin(), lines.at(place).end());
    }
    return found;
  }
};

double begin_of(const TraceJson& span) {
  return span.at("ts").get<double>();
}
double end_of(const TraceJson& span) {
  return begin_of(span) + span.at("dur").get<double>();
}

ReadTrace read_trace(const std::filesystem::path& path) {
  std::ifstream file(path);
  ReadTrace read;
  for (const TraceJson& event : TraceJson::parse(file)) {
    const std::pair place{event.at("pid").get<int>(), event.at("tid").get<int>()};
    const std::string kind = event.at("ph");
    if (kind == "X") {
      EXPECT_GE(event.at("dur").get<double>(), 0) << event;
      read.lines[place].push_back(event);
    } else if (kind == "i") {
      read.remarks.push_back(event);
    } else {
      EXPECT_EQ(kind, "M") << event;
      const std::string name = event.at("args").at("name");
      if (event.at("name") == "process_name") read.processes[place.first] = name;
      if (event.at("name") == "thread_name") read.names[place] = name;
    }
  }
  for (auto& [place, spans] : read.lines) {
    std::sort(spans.begin(), spans.end(), [](const TraceJson& a, const TraceJson& b) {
      return begin_of(a) != begin_of(b) ? begin_of(a) < begin_of(b) : end_of(a) > end_of(b);
    });
  }
  return read;
}

/// Of two spans of a line one contains the other, or they are apart.
void expect_nested(const std::vector<TraceJson>& spans) {
  constexpr double kRounding_us = 2e-3;
  std::vector<double> open;
  for (const TraceJson& span : spans) {
    while (!open.empty() && open.back() <= begin_of(span) + kRounding_us) open.pop_back();
    if (!open.empty()) {
      EXPECT_LE(end_of(span), open.back() + kRounding_us) << span;
    }
    open.push_back(end_of(span));
  }
}

class TraceTest : public EachDevice {
 protected:
  ~TraceTest() override { stop_trace(); }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path("trace.json"); }
  /// A test that is disabled here, on this device, in a process that the environment asks for a trace and for the log.
  [[nodiscard]] ChildResult run_traced(const std::string& test, const char* file) const {
    return run_child(this_program(),
                     {"--gtest_also_run_disabled_tests", "--gtest_filter=" + test + "/" + name_for_tests(GetParam())},
                     {{"TESSERA_TRACE", folder_.path(file)},
                      {"TESSERA_LOG", "all"},
                      {"TESSERA_REQUIRE", ""},
                      {"ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1"}});
  }
  testing_support::ScratchFolder folder_;
};
TESSERA_ON_EACH_DEVICE(TraceTest);

TEST_P(TraceTest, parses_nests_and_says_what_ran) {
  const Device device = fresh_device();
  start_trace(path());
  {
    Queue first(device, {.label = "first"});
    Queue second(device, {.label = "second"});
    const auto a = device.upload<float>(std::vector<float>(32 * 32, 1));
    const auto c = device.allocate<float>(32 * 32);
    const auto gemm = device.kernel(Gemm{.m = 32, .n = 32, .k = 32}, {.label = "the layer"});
    const auto layer = device.kernel(CnnLayer{
        .input_channels = 2, .output_channels = 3, .height = 8, .width = 8, .filter_height = 3, .filter_width = 3});
    const auto weights = device.upload<float>(std::vector<float>(54, 1));
    std::vector<float> host(32 * 32);
    first.upload(c, host);
    first.run(gemm, {.a = a, .b = a, .c = c});
    const auto prepared = first.prepare_weights(layer, weights);
    second.wait(first.record());
    second.fill(c.view(0, 5), 2.0F);
    second.copy(c.view(100, 50), c.view(0, 50));
    second.download(c, host);
    second.finish();
    first.finish();
  }
  stop_trace();
  const ReadTrace trace = read_trace(path());
  for (const auto& [place, spans] : trace.lines) {
    SCOPED_TRACE(trace.names.at(place));
    expect_nested(spans);
  }
  EXPECT_TRUE(trace.remarks.empty()) << TraceJson(trace.remarks);
  EXPECT_TRUE(std::any_of(trace.processes.begin(), trace.processes.end(),
                          [&](const auto& process) { return process.second.starts_with(GetParam() + ", "); }));

  const auto names_on = [&](const std::string& line) {
    std::vector<std::string> names;
    for (const TraceJson& span : trace.line(line)) {
      names.push_back(span.at("name"));
      EXPECT_EQ(span.at("args").at("clock"), "device") << span;
    }
    return names;
  };
  const std::string product =
      "gemm (" + device.kernel(Gemm{.m = 32, .n = 32, .k = 32}).info().variant + ") 'the layer'";
  const auto on_first = names_on("first");
  ASSERT_EQ(on_first.size(), 3U);
  EXPECT_EQ(on_first[0], "upload");
  EXPECT_EQ(on_first[1], product);
  EXPECT_TRUE(on_first[2].starts_with("prepare weights of cnn_layer")) << on_first[2];
  EXPECT_EQ(names_on("second"), (std::vector<std::string>{"wait for an event", "fill", "copy", "download"}));
  EXPECT_EQ(names_on("blocking copies"), (std::vector<std::string>{"upload", "upload"}));

  const TraceJson run = trace.line("first")[1].at("args");
  EXPECT_EQ(run.at("operator"), "gemm");
  EXPECT_EQ(run.at("label"), "the layer");
  EXPECT_TRUE(contains(run.at("problem"), "m=32,n=32,k=32"));
  EXPECT_EQ(trace.line("second")[2].at("args").at("bytes"), 200);
  EXPECT_EQ(trace.line("second")[3].at("args").at("bytes"), 4096);
}

TEST_P(TraceTest, times_are_those_at_which_it_happened) {
  TESSERA_DELAY_OR_SKIP(delay, device(), 0.2);
  const auto buffer = device().upload<std::uint32_t>(std::vector<std::uint32_t>{1});
  start_trace(path());
  const auto begin = TraceClock::now();
  Queue queue(device(), {.label = "delayed"});
  delay.launch(queue, buffer);
  queue.finish();
  const double taken_us = std::chrono::duration<double, std::micro>(TraceClock::now() - begin).count();
  stop_trace();
  const ReadTrace trace = read_trace(path());
  const auto spans = trace.line("delayed");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_LE(spans[0].at("dur").get<double>(), taken_us + kClocksAgree_us);
  // The host's calls around it: the launch is made before the kernel ends, and the wait for it ends after that.
  bool has_waited = false;
  for (const auto& [place, host] : trace.lines) {
    for (const TraceJson& call : host) {
      const std::string name = call.at("name");
      if (name.starts_with("running ")) {
        EXPECT_LE(begin_of(call), begin_of(spans[0]) + kClocksAgree_us);
      }
      if (!name.starts_with("waiting for queue 'delayed'")) continue;
      has_waited = true;
      EXPECT_GE(end_of(call), end_of(spans[0]) - kClocksAgree_us);
      EXPECT_LE(begin_of(spans[0]), end_of(call));
      // While the host waits the kernel runs.
      EXPECT_GE(spans[0].at("dur").get<double>(), call.at("dur").get<double>() / 2);
    }
  }
  EXPECT_TRUE(has_waited);
}

TEST_P(TraceTest, a_second_trace_has_what_came_after_the_first) {
  Queue queue(device(), {.label = "goes on"});
  const auto buffer = device().allocate<int>(1000);
  for (int round = 1; round <= 2; ++round) {
    start_trace(path());
    for (int i = 0; i < round; ++i) queue.fill(buffer, i);
    queue.finish();
    stop_trace();
    queue.fill(buffer, 7);
    EXPECT_EQ(read_trace(path()).line("goes on").size(), static_cast<std::size_t>(round));
  }
}

TEST_P(TraceTest, threads_have_lines_of_their_own) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 100;
  start_trace(path());
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Queue queue(device(), {.label = "thread " + std::string(1, static_cast<char>('a' + i))});
      const auto buffer = device().allocate<int>(1000);
      for (int round = 0; round < kRounds; ++round) {
        queue.fill(buffer, round);
        if (round % 10 == 0) queue.finish();
      }
      queue.finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop_trace();
  const ReadTrace trace = read_trace(path());
  for (const auto& [place, spans] : trace.lines) expect_nested(spans);
  for (const char* name : {"thread a", "thread b", "thread c", "thread d"}) {
    EXPECT_EQ(trace.line(name).size(), static_cast<std::size_t>(kRounds)) << name;
  }
}

/// Run by the test below alone: ends as Ctrl-C ends a program, with work on a queue and nothing stopped.
TEST_P(TraceTest, DISABLED_interrupted) {
  Queue queue(device(), {.label = "interrupted"});
  const auto buffer = device().allocate<int>(1000);
  for (int i = 0; i < 20; ++i) queue.fill(buffer, i);
  queue.finish();
  queue.fill(buffer, 1);
  std::signal(SIGINT, SIG_DFL);
  raise(SIGINT);
}

/// Likewise: exits with work on a queue that nobody waits for.
TEST_P(TraceTest, DISABLED_exits) {
  static Queue queue(device(), {.label = "live"});
  static const auto buffer = device().allocate<int>(1000);
  for (int i = 0; i < 20; ++i) queue.fill(buffer, i);
  queue.finish();
  queue.fill(buffer, 1);
  std::exit(0);
}

TEST_P(TraceTest, is_whole_when_the_process_is_interrupted) {
  const ChildResult child = run_traced("api/TraceTest.DISABLED_interrupted", "trace_%p.json");
  EXPECT_EQ(child.signal, SIGINT) << child.output;
  const auto written = std::filesystem::directory_iterator(folder_.path())->path();
  EXPECT_TRUE(contains(written.filename().string(), "trace_"));
  EXPECT_FALSE(written.filename().string().ends_with("%p.json")) << written;
  EXPECT_EQ(read_trace(written).line("interrupted").size(), 20U) << "what finish() has waited for";
}

TEST_P(TraceTest, is_whole_when_the_process_exits_with_a_live_queue) {
  const ChildResult child = run_traced("api/TraceTest.DISABLED_exits", "trace.json");
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_GE(read_trace(path()).line("live").size(), 20U) << "what finish() has waited for, at least";
}

TEST_P(TraceTest, a_fork_changes_nothing) {
  const ChildResult child = run_traced("api/ForkTest.DISABLED_uses_what_the_parent_opened", "trace.json");
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_TRUE(contains(child.output, "[  PASSED  ] 1 test"));
  const std::vector<TraceJson> spans = read_trace(path()).line("queue");
  EXPECT_EQ(spans.size(), 3U) << "two runs and a download by the parent, and nothing by its child";
}

}  // namespace
}  // namespace tessera::testing_support
