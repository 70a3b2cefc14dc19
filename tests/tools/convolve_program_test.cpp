// `tessera convolve` as a user runs it: exit codes, streams, standard input and output, and Ctrl-C.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "png_sample.h"
#include "program_run.h"

namespace {

using tessera::testing_support::Outcome;
using tessera::testing_support::PngSample;

class ConvolveProgramTest : public tessera::testing_support::ProgramOnCpuTest {
 protected:
  void SetUp() override {
    ProgramOnCpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    PngSample sample;
    sample.width = 40;
    sample.height = 30;
    fill_noise(sample, 3);
    scratch.write("in.png", encode(sample));
  }

  /// One line on standard error, nothing on standard output, and no file more than before.
  void expect_one_line(const Outcome& outcome, int exit_code, const std::string& part) {
    EXPECT_EQ(outcome.exit_code, exit_code);
    EXPECT_EQ(outcome.standard_output, "");
    EXPECT_EQ(std::count(outcome.standard_error.begin(), outcome.standard_error.end(), '\n'), 1);
    EXPECT_EQ(outcome.standard_error.rfind("tessera", 0), 0U) << outcome.standard_error;
    EXPECT_NE(outcome.standard_error.find(part), std::string::npos) << outcome.standard_error;
    EXPECT_EQ(scratch.names(), std::set<std::string>{"in.png"});
  }
};

TEST_F(ConvolveProgramTest, help_shows_filters_and_examples) {
  const Outcome outcome = run("convolve --help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* part : {"Examples:", "gaussian:N", "sobel-x", "--border", "mirror", "--max-pixels"}) {
    EXPECT_NE(outcome.standard_output.find(part), std::string::npos) << part;
  }
}

TEST_F(ConvolveProgramTest, is_silent_and_the_same_through_pipes) {
  const Outcome file = run("convolve in.png out.png --filter gaussian:5 --device cpu:0");
  EXPECT_EQ(file.exit_code, 0) << file.standard_error;
  EXPECT_EQ(file.standard_output + file.standard_error, "");
  const Outcome pipe = run("convolve - - --filter gaussian:5 --device cpu:0 <in.png | cat");
  EXPECT_EQ(pipe.standard_error, "");
  EXPECT_EQ(pipe.standard_output, scratch.read("out.png"));
  EXPECT_EQ(tessera::testing_support::decode(pipe.standard_output).width, 40U);
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"in.png", "out.png"}));
}

TEST_F(ConvolveProgramTest, time_names_the_device_beside_the_image) {
  const Outcome outcome = run("convolve in.png - -f box:3 -d cpu:1 --variant sequential --time | cat");
  EXPECT_NE(outcome.standard_error.find("cpu:1"), std::string::npos) << outcome.standard_error;
  EXPECT_NE(outcome.standard_error.find("sequential"), std::string::npos) << outcome.standard_error;
  EXPECT_EQ(tessera::testing_support::decode(outcome.standard_output).height, 30U);
}

TEST_F(ConvolveProgramTest, options_reach_the_pixels) {
  const Outcome outcome =
      run("convolve in.png - -d cpu:0 -f sobel-x --signed --divide 1e9 --offset 50% --border valid");
  const PngSample image = tessera::testing_support::decode(outcome.standard_output);
  EXPECT_EQ(image.width, 38U);
  EXPECT_EQ(image.height, 28U);
  EXPECT_EQ(
      std::count(image.bytes.begin(), image.bytes.end(), 127) + std::count(image.bytes.begin(), image.bytes.end(), 128),
      38 * 28);
  const std::string edges = run("convolve in.png - -d cpu:0 -f sobel-x").standard_output;
  EXPECT_EQ(run("convolve in.png - -d cpu:0 -f sobel-x --absolute").standard_output, edges);
  EXPECT_NE(run("convolve in.png - -d cpu:0 -f sobel-x --signed").standard_output, edges);
  const Outcome black = run("convolve in.png - -d cpu:0 -f box:3 --offset -300");
  const PngSample dark = tessera::testing_support::decode(black.standard_output);
  EXPECT_EQ(std::count(dark.bytes.begin(), dark.bytes.end(), 0), 40 * 30);
}

TEST_F(ConvolveProgramTest, wrong_use_is_one_line_and_exit_code_2) {
  expect_one_line(run("convolve in.png out.png"), 2, "--filter is required");
  expect_one_line(run("convolve in.png --filter box:3"), 2, "output is required");
  expect_one_line(run("convolve in.png out.png -f gaussian:4 -d cpu:0"), 2, "odd");
  expect_one_line(run("convolve in.png out.png -f blur -d cpu:0"), 2, "gaussian:N");
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:0 --divide 0"), 2, "--divide");
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:0 --offset 1x"), 2, "--offset");
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:0 --border wrap"), 2, "--border");
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:0 --signed --absolute"), 2, "--absolute");
  expect_one_line(run("convolve in.png out.png -f box:3 -d gpu9"), 2, "gpu9");
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:0 -v none"), 2, "none");
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:0 -s tile"), 2, "--set");
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:0 --max-pixels 0"), 2, "--max-pixels");
}

TEST_F(ConvolveProgramTest, other_failures_are_one_line_and_exit_code_1) {
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:99"), 1, "cpu:99");
  expect_one_line(run("convolve in.png in.png -f box:3 -d cpu:0"), 1, "--force");
  expect_one_line(run("convolve no.png out.png -f box:3 -d cpu:0"), 1, "'no.png' cannot be read");
  expect_one_line(run("convolve - out.png -f box:3 -d cpu:0 </dev/null"), 1, "standard input is empty");
  expect_one_line(run("convolve in.png out.png -f /dev/null -d cpu:0"), 1, "holds no weights");
  expect_one_line(run("convolve in.png /dev/full -f box:3 -d cpu:0"), 1, "No space left");
  expect_one_line(run("convolve in.png out.png -f box:3 -d cpu:0 --max-pixels 1199"), 1, "40 x 30 pixels");
}

TEST_F(ConvolveProgramTest, a_signal_ends_the_wait_for_a_fifos_writer) {
  const Outcome outcome = run_line(scratch,
                                   "mkfifo pipe && timeout --foreground --preserve-status -s TERM 1 \"$tessera\" "
                                   "convolve pipe out.png -f box:3 -d cpu:0");
  EXPECT_EQ(outcome.exit_code, 143);
  EXPECT_EQ(outcome.standard_error, "tessera: interrupted by SIGTERM\n");
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"in.png", "pipe"}));
}

TEST_F(ConvolveProgramTest, writes_through_a_fifo_and_reads_one) {
  ASSERT_EQ(run("convolve in.png out.png -f box:3 -d cpu:0").exit_code, 0);
  const Outcome outcome =
      run_line(scratch,
               "mkfifo in out && { cat in.png >in & } && { cat out >got & } && \"$tessera\" convolve "
               "in out -f box:3 -d cpu:0 && wait");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_EQ(scratch.read("got"), scratch.read("out.png"));
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"got", "in", "in.png", "out", "out.png"}));
}

class ConvolveSignalTest : public ConvolveProgramTest, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(each, ConvolveSignalTest, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(ConvolveSignalTest, leaves_nothing_behind) {
  // The rest of the image never comes: the program waits, its temporary file open.
  std::array<int, 2> image{};
  ASSERT_EQ(::pipe2(image.data(), O_CLOEXEC), 0);
  const std::string output = scratch.path("out.png");
  const std::string complaints = scratch.path("stderr");
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
    ::dup2(image[0], STDIN_FILENO);
    ::dup2(::open(complaints.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    ::execl(TESSERA_TOOL_PATH, "tessera", "convolve", "-", output.c_str(), "-f", "box:3", "-d", "cpu:0", nullptr);
    ::_exit(127);
  }
  const std::string start = scratch.read("in.png").substr(0, 300);
  ASSERT_EQ(::write(image[1], start.data(), start.size()), 300);
  for (int tries = 0; tries < 500 && scratch.names().size() < 3; ++tries) ::usleep(10'000);
  EXPECT_EQ(scratch.names().size(), 3U) << "with the temporary file";
  EXPECT_EQ(::kill(child, GetParam()), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  ::close(image[0]);
  ::close(image[1]);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + GetParam());
  EXPECT_EQ(scratch.read("stderr").rfind("tessera: interrupted by SIG", 0), 0U) << scratch.read("stderr");
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"in.png", "stderr"}));
}

}  // namespace
