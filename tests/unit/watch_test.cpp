// What the environment asks to be told, each in a process of its own, because it is read once; and what a child process
// of fork() does with what its parent watches.
#include <tessera/tessera.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "expect_error.h"
#include "support/child_process.h"
#include "support/forked_child.h"
#include "support/scratch_folder.h"

namespace tessera {
namespace {

using testing_support::ChildResult;

class WatchTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path(const char* name = "trace.json") const { return folder_.path(name); }
  [[nodiscard]] std::string text(const char* name = "trace.json") const { return folder_.read(name); }
  /// One of the tests below whose name begins with DISABLED_, in a process with these variables.
  [[nodiscard]] static ChildResult run_alone(const char* test, const std::map<std::string, std::string>& variables) {
    return testing_support::run_child(
        testing_support::this_program(),
        {"--gtest_also_run_disabled_tests", "--gtest_filter=WatchTest.DISABLED_" + std::string(test)}, variables);
  }
  testing_support::ScratchFolder folder_;
};

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::ptrdiff_t lines_that_begin(const std::string& text, const std::string& begin) {
  std::ptrdiff_t count = text.starts_with(begin) ? 1 : 0;
  for (std::size_t at = text.find("\n" + begin); at != text.npos; at = text.find("\n" + begin, at + 1)) ++count;
  return count;
}

TEST_F(WatchTest, DISABLED_works) {
  const Device device = open("minimal:0");
  Queue queue(device, {.label = "mine"});
  const auto a = device.upload<float>(std::vector<float>{1, 2, 3, 4});
  const auto c = device.allocate<float>(4);
  queue.run(device.kernel(Gemm{.m = 2, .n = 2, .k = 2}), {.a = a, .b = a, .c = c});
  queue.finish();
}

TEST_F(WatchTest, the_log_goes_to_standard_error) {
  const ChildResult some = run_alone("works", {{"TESSERA_LOG", "choice,copy"}});
  EXPECT_EQ(some.status, 0) << some.output;
  EXPECT_EQ(lines_that_begin(some.output, "tessera choice: gemm on minimal:0 takes naive for m=2,n=2,k=2"), 1)
      << some.output;
  EXPECT_EQ(lines_that_begin(some.output, "tessera copy: 16 bytes uploaded to minimal:0"), 1) << some.output;
  EXPECT_EQ(lines_that_begin(some.output, "tessera "), 2) << some.output;
  const ChildResult all = run_alone("works", {{"TESSERA_LOG", "all"}});
  EXPECT_EQ(lines_that_begin(all.output, "tessera compile: kernel gemm (naive) for minimal:0 made in "), 1)
      << all.output;
  EXPECT_GE(lines_that_begin(all.output, "tessera memory: 16 bytes allocated on minimal:0"), 2) << all.output;
  const ChildResult none = run_alone("works", {{"TESSERA_LOG", ""}});
  EXPECT_EQ(lines_that_begin(none.output, "tessera "), 0) << none.output;
}

TEST_F(WatchTest, DISABLED_a_wrong_word) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_ERROR((void)open("minimal:0"), ErrorCode::invalid_argument, "$TESSERA_LOG", "'colour'",
                 "choice, compile, copy, memory and all");
  }
  EXPECT_ERROR((void)devices(), ErrorCode::invalid_argument, "'colour'");
  ::setenv("TESSERA_LOG", "copy", 1);
  (void)open("minimal:0");
}

TEST_F(WatchTest, a_word_that_is_no_kind_of_event_is_refused) {
  const ChildResult child = run_alone("a_wrong_word", {{"TESSERA_LOG", "choice,colour"}});
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_EQ(lines_that_begin(child.output, "tessera "), 0) << child.output;
}

TEST_F(WatchTest, DISABLED_no_trace) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_ERROR((void)open("minimal:0"), ErrorCode::invalid_argument, "$TESSERA_TRACE", "'/no/such/folder/trace.json'",
                 "No such file or directory");
  }
  ::unsetenv("TESSERA_TRACE");
  (void)open("minimal:0");
}

TEST_F(WatchTest, a_trace_that_cannot_be_written_is_refused) {
  const ChildResult child = run_alone("no_trace", {{"TESSERA_TRACE", "/no/such/folder/trace.json"}});
  EXPECT_EQ(child.status, 0) << child.output;
}

TEST_F(WatchTest, DISABLED_exits_with_a_live_queue) {
  static const Device device = open("minimal:0");
  static Queue queue(device, {.label = "live"});
  static const auto buffer = device.allocate<int>(10);
  queue.fill(buffer, 1);
  queue.finish();
  queue.fill(buffer, 2);
  std::exit(0);
}

TEST_F(WatchTest, a_process_that_exits_with_a_live_queue_leaves_a_whole_trace) {
  const ChildResult child = run_alone("exits_with_a_live_queue", {{"TESSERA_TRACE", path().string()}});
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_TRUE(has_part(text(), R"("name":"fill")")) << text();
  EXPECT_TRUE(has_part(text(), R"("name":"live")")) << text();
  EXPECT_TRUE(text().starts_with("[\n") && text().ends_with("\n]\n")) << text();
}

TEST_F(WatchTest, calls_are_ranges_for_a_profiler) {
  const ChildResult child = run_alone("works", {{"NVTX_INJECTION64_PATH", TESSERA_PROFILER_PATH}});
  EXPECT_EQ(child.status, 0) << child.output;
  for (const char* range :
       {"range 0 begins: making gemm for minimal:0\n", "range 0 begins: running gemm (naive)\n",
        "range 0 begins: uploading 16 bytes\n", "range 0 begins: waiting for queue 'mine' of minimal:0\n"}) {
    EXPECT_TRUE(has_part(child.output, range)) << range << " is not in\n" << child.output;
  }
  EXPECT_EQ(lines_that_begin(child.output, "range 0 begins"), lines_that_begin(child.output, "range 0 ends"));
}

TEST_F(WatchTest, a_profiler_that_is_not_there_harms_nothing) {
  EXPECT_EQ(run_alone("works", {{"NVTX_INJECTION64_PATH", "/no/such/profiler.so"}}).status, 0);
}

TEST_F(WatchTest, a_forked_child_is_not_watched_by_its_parent) {
  const Device device = open("minimal:0");
  std::atomic<int> heard{0};
  set_log([&](const LogEvent&) { ++heard; });
  start_trace(path());
  Queue queue(device, {.label = "parent"});
  const auto buffer = device.allocate<int>(10);
  queue.fill(buffer, 1);
  queue.finish();
  const std::string before = text();
  const int status = testing_support::status_of_fork([&] {
    heard = 0;
    int wrong = testing_support::says_fork([&] { queue.fill(buffer, 3); }) ? 0 : 1;
    stop_trace();  // there is none here
    wrong += text() == before ? 0 : 2;
    start_trace(path("child.json"));
    stop_trace();
    wrong += text("child.json").ends_with("\n]\n") ? 0 : 4;
    set_log({});
    return wrong + (heard == 0 ? 0 : 8);
  });
  EXPECT_EQ(status, 0);
  queue.fill(buffer, 2);
  queue.finish();
  stop_trace();
  set_log({});
  const std::string fill = R"("name":"fill","cat":"fill")";
  EXPECT_NE(text().find(fill), text().rfind(fill)) << "both fills of the parent\n" << text();
}

TEST_F(WatchTest, a_forked_child_does_not_hold_the_trace_of_its_parent) {
  start_trace(path());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    ::close(ends[1]);
    char letter = 0;
    ::_exit(::read(ends[0], &letter, 1) == 0 ? 0 : 1);
  }
  ::close(ends[0]);
  stop_trace();
  start_trace(path());  // the child lives, with all descriptors that it has inherited
  stop_trace();
  ::close(ends[1]);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tessera
