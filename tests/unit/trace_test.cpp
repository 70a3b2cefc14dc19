// The trace's file and its text, on the smallest backend: what is refused, and what stays whole.
#include <tessera/tessera.h>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "expect_error.h"
#include "json_text.h"
#include "support/scratch_folder.h"
#include "trace_file.h"

namespace tessera {
namespace {

class TraceFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path(const char* name = "trace.json") const { return folder_.path(name); }
  [[nodiscard]] std::string text(const char* name = "trace.json") const { return folder_.read(name); }
  testing_support::ScratchFolder folder_;
};

TEST_F(TraceFileTest, text_in_json) {
  using detail::json_quoted;
  EXPECT_EQ(json_quoted("plain"), "\"plain\"");
  EXPECT_EQ(json_quoted("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(json_quoted("line\nend\t\x01"), R"("line\u000aend\u0009\u0001")");
  EXPECT_EQ(json_quoted("\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82"), "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82\"");
  const std::string bad = R"(\ufffd)";
  EXPECT_EQ(json_quoted("\xff"), "\"" + bad + "\"");
  EXPECT_EQ(json_quoted("\xc3"), "\"" + bad + "\"") << "cut off";
  EXPECT_EQ(json_quoted("\xc0\x80"), "\"" + bad + bad + "\"") << "overlong";
  EXPECT_EQ(json_quoted("\xed\xa0\x80x"), "\"" + bad + bad + bad + "x\"") << "half of a pair";
  EXPECT_EQ(json_quoted("\xf5\x80\x80\x80"), "\"" + bad + bad + bad + bad + "\"") << "beyond the last character";
  EXPECT_EQ(json_quoted(std::string_view("\0", 1)), R"("\u0000")");
}

TEST_F(TraceFileTest, is_a_whole_list_after_every_write) {
  detail::TraceFile file(path());
  EXPECT_EQ(text(), "[\n\n]\n");
  file.add("1");
  file.flush();
  EXPECT_EQ(text(), "[\n1\n]\n");
  file.add("22");
  file.add("333");
  EXPECT_EQ(text(), "[\n1\n]\n") << "not written yet";
  file.flush();
  EXPECT_EQ(text(), "[\n1,\n22,\n333\n]\n");
  file.close();
  file.add("4");
  file.flush();
  EXPECT_EQ(text(), "[\n1,\n22,\n333\n]\n") << "closed";
}

TEST_F(TraceFileTest, empties_what_is_there) {
  std::ofstream(path()) << std::string(10000, 'x');
  detail::TraceFile(path()).close();
  EXPECT_EQ(text(), "[\n\n]\n");
}

TEST_F(TraceFileTest, what_cannot_be_written_is_refused_with_the_reason) {
  using detail::TraceFile;
  EXPECT_ERROR((TraceFile{path("no/such/folder")}), ErrorCode::invalid_argument, "no/such/folder", "No such file");
  EXPECT_ERROR((TraceFile{folder_.path()}), ErrorCode::invalid_argument, "directory");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_ERROR((TraceFile{path("pipe")}), ErrorCode::invalid_argument, "cannot be written");
  EXPECT_ERROR((TraceFile{"/dev/null"}), ErrorCode::invalid_argument, "no regular file");
}

TEST_F(TraceFileTest, two_do_not_write_to_one_file) {
  detail::TraceFile first(path());
  first.add("1");
  EXPECT_ERROR((detail::TraceFile{path()}), ErrorCode::invalid_argument, "another process", "%p");
  first.close();
  EXPECT_EQ(text(), "[\n1\n]\n") << "the refused one left it alone";
  detail::TraceFile(path()).close();
}

/// In a process whose files end at 1000 bytes. 0: what could not be written is told, and the file is whole.
int status_where_the_disk_is_full(const std::filesystem::path& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{1000, 1000};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  detail::TraceFile file(path);
  for (int i = 0; i < 200; ++i) {
    file.add("\"ten bytes\"");
    if (i % 7 == 0) file.flush();
  }
  try {
    file.close();
    return 1;
  } catch (const Error& error) {
    std::ifstream written(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(written), std::istreambuf_iterator<char>()};
    const bool is_whole = text.ends_with("\"ten bytes\"\n]\n") && text.size() > 800;
    return is_whole && error.code() == ErrorCode::invalid_argument ? 0 : 2;
  }
}

TEST_F(TraceFileTest, a_full_disk_leaves_a_whole_list_and_is_told) {
  EXPECT_EXIT(::_exit(status_where_the_disk_is_full(path())), ::testing::ExitedWithCode(0), "");
}

TEST_F(TraceFileTest, one_trace_at_a_time) {
  start_trace(path());
  EXPECT_ERROR(start_trace(path("other.json")), ErrorCode::invalid_argument, "trace.json");
  stop_trace();
  stop_trace();  // nothing to do
  start_trace(path("other.json"));
  stop_trace();
  EXPECT_TRUE(text("other.json").ends_with("]\n"));
  EXPECT_ERROR(start_trace(folder_.path()), ErrorCode::invalid_argument, "directory");
  start_trace(path());  // the refusal left nothing behind
  stop_trace();
}

TEST_F(TraceFileTest, commands_of_a_queue_stand_in_it_with_what_they_are) {
  const Device device = open("minimal:0");
  Queue queue(device, {.label = "bytes \xff and \"quotes\""});
  start_trace(path());
  const auto a = device.upload<float>(std::vector<float>{1, 2, 3, 4});
  const auto c = device.allocate<float>(4);
  queue.run(device.kernel(Gemm{.m = 2, .n = 2, .k = 2}, {.label = "mine"}), {.a = a, .b = a, .c = c});
  queue.fill(c, 0.0F);
  queue.record().wait();
  queue.finish();
  stop_trace();
  queue.fill(c, 1.0F);
  queue.finish();
  const std::string trace = text();
  for (const char* part :
       {R"("name":"minimal:0, minimal device")", R"("name":"bytes \ufffd and \"quotes\"")",
        R"("name":"gemm (naive) 'mine'","cat":"kernel")", R"("operator":"gemm","variant":"naive","label":"mine")",
        R"("name":"upload","cat":"copy")", R"("bytes":16)", R"("name":"host")", R"("name":"blocking copies")",
        R"("name":"making gemm for minimal:0","cat":"host")", R"("name":"waiting for an event of queue 'bytes )",
        R"("name":"waiting for queue 'bytes )"}) {
    EXPECT_NE(trace.find(part), std::string::npos) << part << " is not in\n" << trace;
  }
  const std::string fill = R"("name":"fill","cat":"fill")";
  EXPECT_NE(trace.find(fill), std::string::npos);
  EXPECT_EQ(trace.find(fill), trace.rfind(fill)) << "the second fill came after the end";
}

TEST_F(TraceFileTest, traces_begin_and_end_while_threads_work) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const Device device = open("minimal:0");
      while (!ends) {
        Queue queue(device);
        const auto buffer = device.allocate<int>(10);
        for (int k = 0; k < 5; ++k) queue.fill(buffer, k);
        queue.finish();
      }
    });
  }
  for (int round = 0; round < 40; ++round) {
    start_trace(path());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop_trace();
    const std::string trace = text();
    EXPECT_TRUE(trace.starts_with("[\n") && trace.ends_with("\n]\n")) << trace.substr(0, 100);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tessera
