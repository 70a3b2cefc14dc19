// Where the program writes: files, links, pipes and devices that --json names, standard streams that are full or
// closed, and what remains when a signal ends it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "program_run.h"

namespace {

using Json = nlohmann::json;
using tessera::testing_support::Outcome;
namespace fs = std::filesystem;

class StreamsTest : public testing::Test {
 protected:
  Outcome run(const std::string& line) { return run_line(scratch, line); }

  void expect_devices(const std::string& name) {
    const Json json = Json::parse(scratch.read(name), nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(json.is_object()) << scratch.read(name);
    EXPECT_EQ(json.at("tool"), "tessera devices");
  }
  /// One line on standard error, and nothing was measured before.
  static void expect_one_line(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.standard_output, "");
    EXPECT_EQ(std::count(outcome.standard_error.begin(), outcome.standard_error.end(), '\n'), 1);
    EXPECT_NE(outcome.standard_error.find(part), std::string::npos) << outcome.standard_error;
  }

  tessera::testing_support::ScratchFolder scratch;
};

TEST_F(StreamsTest, json_goes_through_a_fifo) {
  const Outcome outcome = run("mkfifo pipe && { cat pipe >got & } && \"$tessera\" devices --json pipe && wait");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_EQ(fs::status(scratch.path("pipe")).type(), fs::file_type::fifo);
  expect_devices("got");
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"got", "pipe"}));
}

TEST_F(StreamsTest, json_goes_to_a_device_node_that_stays_one) {
  // A null device of our own: the real one must not be what is destroyed if this fails.
  if (run("mknod null c 1 3 && echo x >null").exit_code != 0)
    GTEST_SKIP() << "device nodes cannot be made or used here";
  const Outcome outcome = run("\"$tessera\" devices --json null");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_EQ(fs::status(scratch.path("null")).type(), fs::file_type::character);
  EXPECT_EQ(run("ln -s null link && \"$tessera\" devices --json link").exit_code, 0);
  EXPECT_EQ(fs::status(scratch.path("null")).type(), fs::file_type::character);
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"link", "null"}));
}

TEST_F(StreamsTest, json_goes_where_a_link_leads) {
  ASSERT_EQ(
      run("mkdir folder && echo old >folder/target && chmod 640 folder/target && ln -s folder/target link").exit_code,
      0);
  EXPECT_EQ(run("\"$tessera\" devices --json link").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(scratch.path("link")));
  expect_devices("folder/target");
  EXPECT_EQ(fs::status(scratch.path("folder/target")).permissions(), fs::perms(0640));

  EXPECT_EQ(run("ln -s folder/fresh fresh && \"$tessera\" devices --json fresh").exit_code, 0)
      << "it leads nowhere yet";
  EXPECT_TRUE(fs::is_symlink(scratch.path("fresh")));
  expect_devices("folder/fresh");
  expect_one_line(run("ln -s folder/no/file astray && \"$tessera\" devices --json astray"),
                  "No such file or directory");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path("folder")), fs::directory_iterator()), 2);
}

TEST_F(StreamsTest, json_to_standard_output_by_its_path_stands_behind_the_text) {
  // A link of our own, like /dev/stdout, which must not be what is replaced if this fails.
  ASSERT_EQ(run("ln -s /proc/self/fd/1 out && \"$tessera\" devices --json out >both").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(scratch.path("out")));
  const std::string both = scratch.read("both");
  EXPECT_EQ(both.rfind("tessera ", 0), 0U) << both;
  EXPECT_NE(both.find("\n{\n\"tool\": \"tessera devices\""), std::string::npos) << both;
}

TEST_F(StreamsTest, a_place_that_cannot_be_written_is_found_out_before_measuring) {
  ASSERT_EQ(run("mkdir folder && echo old >kept").exit_code, 0);
  expect_one_line(run("\"$tessera\" verify gemm --json folder"), "'folder' cannot be written: it is a folder");
  expect_one_line(run("\"$tessera\" verify gemm --json kept/file"), "Not a directory");
  expect_one_line(run("\"$tessera\" verify gemm --json no/file"), "No such file or directory");
  if (::geteuid() == 0) {  // root may write everything but what the kernel keeps for itself
    expect_one_line(run("\"$tessera\" verify gemm --json /proc/version"), "'/proc/version' cannot be written: ");
  } else {
    expect_one_line(run("chmod 444 kept && \"$tessera\" verify gemm --json kept"), "Permission denied");
    expect_one_line(run("chmod 555 folder && \"$tessera\" verify gemm --json folder/file"), "Permission denied");
  }
  EXPECT_EQ(scratch.read("kept"), "old\n");
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"folder", "kept"}));
}

TEST_F(StreamsTest, a_full_standard_output_is_a_failure) {
  for (const char* arguments : {"devices", "--help", "--version", "bench --help", "devices --json -"}) {
    SCOPED_TRACE(arguments);
    const Outcome outcome = run(std::string("\"$tessera\" ") + arguments + " >/dev/full");
    EXPECT_EQ(outcome.exit_code, 1);
    // The parser flushes what --help and --version print, and keeps the reason to itself.
    const bool is_told_why = std::string(arguments).rfind("devices", 0) == 0;
    const std::string part = is_told_why ? "standard output cannot be written: No space left on device"
                                         : "standard output cannot be written: ";
    EXPECT_NE(outcome.standard_error.find(part), std::string::npos) << outcome.standard_error;
  }
}

TEST_F(StreamsTest, closed_streams_are_not_taken_for_the_next_file) {
  // The text is longer than the buffer before standard output, so that it is written while the result is still open.
  const std::string verify = "\"$tessera\" verify gemm --device cpu:0,cpu:1 --case 'float??_m1_*'";
  const std::string text = run(verify).standard_output;
  if (text.find(" 0 failed") == std::string::npos) GTEST_SKIP() << "cpu:0 and cpu:1 are not here";
  ASSERT_GT(text.size(), 4096U);
  for (const char* closed : {">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&-", "<&- >&- 2>&-"}) {
    SCOPED_TRACE(closed);
    EXPECT_EQ(run(verify + " --json result.json " + closed).exit_code, 0);
    EXPECT_TRUE(Json::parse(scratch.read("result.json"), nullptr, /*allow_exceptions=*/false).is_object());
    fs::remove(scratch.path("result.json"));
  }
  EXPECT_EQ(run("\"$tessera\" nonsense --json result.json >&- 2>&- <&-").exit_code, 2);
}

class SignalsTest : public StreamsTest {
 protected:
  void SetUp() override {
    if (run("\"$tessera\" devices").standard_output.find("cpu:0") == std::string::npos) {
      GTEST_SKIP() << "cpu:0 is not here";
    }
  }
};

TEST_F(SignalsTest, each_leaves_a_valid_file_and_the_shells_exit_code) {
  struct Kind {
    const char* options;
    const char* name;
    int exit_code;
  };
  // Without --foreground the signal comes twice, to the program and to its process group.
  for (const Kind& kind : {Kind{"--foreground -s INT", "INT", 130}, Kind{"--foreground -s TERM", "TERM", 143},
                           Kind{"--foreground -s HUP", "HUP", 129}, Kind{"-s INT", "INT", 130}}) {
    SCOPED_TRACE(kind.options);
    const Outcome outcome =
        run(std::string("timeout --preserve-status ") + kind.options +
            " 1 \"$tessera\" bench gemm --study --device cpu:0 --variant register,tiled --json result.json");
    EXPECT_EQ(outcome.exit_code, kind.exit_code);
    EXPECT_EQ(outcome.standard_error, std::string("tessera: interrupted by SIG") + kind.name + "\n");
    EXPECT_EQ(Json::parse(scratch.read("result.json")).at("interrupted"), true);
    EXPECT_EQ(scratch.names(), std::set<std::string>{"result.json"});
    fs::remove(scratch.path("result.json"));
  }
}

TEST_F(SignalsTest, a_hangup_that_is_ignored_stays_ignored) {
  const Outcome outcome = run(
      "trap '' HUP; \"$tessera\" verify gemm --device cpu:0 --case 'float32_m1*' & sleep 0.3; kill -HUP $!; wait $!");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_EQ(outcome.standard_error, "");
}

TEST_F(SignalsTest, end_the_wait_for_a_fifos_reader) {
  const Outcome outcome =
      run("mkfifo pipe && timeout --foreground --preserve-status -s TERM 0.5 \"$tessera\" devices --json pipe");
  EXPECT_EQ(outcome.exit_code, 143);
  EXPECT_EQ(outcome.standard_error, "tessera: interrupted by SIGTERM\n");
  EXPECT_EQ(scratch.names(), std::set<std::string>{"pipe"});
}

TEST_F(SignalsTest, end_the_wait_for_a_reader_that_takes_nothing) {
  // A page of the pipe's 64 KiB is not free any more when the JSON comes.
  const Outcome outcome =
      run("mkfifo pipe && { sleep 20 <pipe & sleeper=$!; } && exec 9>pipe && head -c 65536 /dev/zero >&9 && "
          "timeout --foreground --preserve-status -s TERM 1 \"$tessera\" devices --json pipe; code=$?; kill $sleeper; "
          "exit $code");
  EXPECT_EQ(outcome.exit_code, 143);
  EXPECT_EQ(scratch.names(), std::set<std::string>{"pipe"});
}

}  // namespace
