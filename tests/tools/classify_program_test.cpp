// `tessera digits` and `tessera classify` as a user runs them: exit codes, streams, JSON, and being asked to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "program_run.h"

namespace {

using tessera::testing_support::Outcome;

const std::string kSets =
    "--train d/train-images-idx3-ubyte.gz d/train-labels-idx1-ubyte.gz "
    "--test d/t10k-images-idx3-ubyte.gz d/t10k-labels-idx1-ubyte.gz ";

class ClassifyProgramTest : public tessera::testing_support::ProgramOnCpuTest {
 protected:
  void SetUp() override {
    ProgramOnCpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const Outcome drawn = run("digits --out d --count 400 --test 90 --seed 2 --gzip");
    ASSERT_EQ(drawn.exit_code, 0) << drawn.standard_error;
  }

  void expect_one_line(const Outcome& outcome, int exit_code, const std::string& part) {
    EXPECT_EQ(outcome.exit_code, exit_code);
    EXPECT_EQ(outcome.standard_output, "");
    EXPECT_EQ(std::count(outcome.standard_error.begin(), outcome.standard_error.end(), '\n'), 1);
    EXPECT_EQ(outcome.standard_error.rfind("tessera", 0), 0U) << outcome.standard_error;
    EXPECT_NE(outcome.standard_error.find(part), std::string::npos) << outcome.standard_error;
    EXPECT_EQ(scratch.names(), std::set<std::string>{"d"});
  }
  static void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
};

TEST_F(ClassifyProgramTest, help_shows_formats_scale_and_examples) {
  expect_parts(run("classify --help").standard_output,
               {"Examples:", "--vote", "1/255", "IDX", "NPY", "squared|euclidean", "--queries"});
  expect_parts(run("digits --help").standard_output, {"Examples:", "--count", "60000", "--seed", "samples.png"});
}

TEST_F(ClassifyProgramTest, digits_tells_the_next_command_and_it_works) {
  const Outcome drawn = run("digits --out e --count 50 --test 5 2>&1");
  EXPECT_EQ(drawn.exit_code, 0);
  const std::size_t command = drawn.standard_output.find("tessera classify ");
  ASSERT_NE(command, std::string::npos) << drawn.standard_output;
  const std::string line = drawn.standard_output.substr(command + 8);
  EXPECT_EQ(run(line.substr(0, line.find('\n')) + " -d cpu:0").exit_code, 0);
}

TEST_F(ClassifyProgramTest, text_has_accuracy_answers_doubts_and_times) {
  const Outcome outcome = run("classify " + kSets + "-d cpu:0");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.standard_error, "");
  expect_parts(outcome.standard_output,
               {"90 test images among 400 training images of 784 numbers, uint8, scale 0.003922", "cpu:0",
                "rounded value", "largest vote", "(--vote)", "answers (columns) to each label (rows)", "doubtful",
                "nearest row", "reading training images", "transfer", "all of it"});
}

TEST_F(ClassifyProgramTest, json_and_answers_say_what_the_text_says) {
  const Outcome outcome = run("classify " + kSets + "-d cpu:0 --vote --json - --answers a -q 80 -r 300 --doubtful 3");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  expect_parts(outcome.standard_error, {"80 test images among 300", "(not asked for)"});
  const auto json = nlohmann::json::parse(outcome.standard_output);
  EXPECT_EQ(json.at("tool"), "tessera classify");
  EXPECT_EQ(json.at("operator"), "kernel_regression");
  EXPECT_EQ(json.at("device"), "cpu:0");
  EXPECT_EQ(json.at("problem").at("test_rows"), 80);
  EXPECT_EQ(json.at("problem").at("training_rows"), 300);
  EXPECT_EQ(json.at("problem").at("type"), "uint8");
  EXPECT_EQ(json.at("answers_by"), "vote");
  EXPECT_EQ(json.at("doubtful").size(), 3U);
  int all = 0, right = 0;
  for (const auto& cell : json.at("confusion")) {
    all += cell.at("count").get<int>();
    if (cell.at("label") == cell.at("answer")) right += cell.at("count").get<int>();
  }
  EXPECT_EQ(all, 80);
  EXPECT_EQ(right, json.at("accuracy").at("right"));
  EXPECT_EQ(json.at("accuracy").at("share"), right / 80.0);
  for (const auto& [stage, seconds] : json.at("times").items()) EXPECT_GE(seconds, 0) << stage;
  const std::string answers = scratch.read("a");
  EXPECT_EQ(std::count(answers.begin(), answers.end(), '\n'), 80);
}

TEST_F(ClassifyProgramTest, options_reach_the_computation) {
  const auto line = [&](const std::string& options) {
    const Outcome outcome = run("classify " + kSets + "-d cpu:0 -q 10 " + options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    return outcome.standard_output.substr(0, outcome.standard_output.find("\n\n"));
  };
  expect_parts(line("--distance euclidean -m 3"), {"distance euclidean", "order 3,"});
  expect_parts(line("--type float32 --variant naive"), {"float32, scale 0.003922", "naive"});
  expect_parts(line("--type float64 --scale 1/510"), {"float64, scale 0.001961"});
  expect_parts(line("--scale 0.5"), {"uint8, scale 0.5,"});
}

TEST_F(ClassifyProgramTest, wrong_use_is_one_line_and_exit_code_2) {
  expect_one_line(run("classify -d cpu:0"), 2, "--train is required");
  expect_one_line(run("classify --train a b --test c"), 2, "--test");
  const std::string use = "classify " + kSets;
  expect_one_line(run(use + "-d gpu9"), 2, "gpu9");
  expect_one_line(run(use + "-d cpu:0 -v none"), 2, "none");
  expect_one_line(run(use + "-d cpu:0 --scale 1/x"), 2, "--scale is '1/x'");
  expect_one_line(run(use + "-d cpu:0 --scale 0"), 2, "scale of kernel_regression is 0");
  expect_one_line(run(use + "-d cpu:0 --scale 1/0"), 2, "scale of kernel_regression is inf");
  expect_one_line(run(use + "-d cpu:0 --order -1"), 2, "order of kernel_regression is -1");
  expect_one_line(run(use + "-d cpu:0 --distance far"), 2, "--distance");
  expect_one_line(run(use + "-d cpu:0 --type int8"), 2, "--type");
  expect_one_line(run(use + "-d cpu:0 --queries 0"), 2, "--queries");
  expect_one_line(run(use + "-d cpu:0 --json - --answers -"), 2, "both");
  expect_one_line(run("digits"), 2, "--out is required");
  expect_one_line(run("digits --out e --count 0"), 2, "--count");
}

TEST_F(ClassifyProgramTest, other_failures_are_one_line_and_exit_code_1) {
  expect_one_line(run("classify --train no.gz no --test no no -d cpu:0"), 1,
                  "the file of training images 'no.gz' cannot be read: No such file or directory");
  expect_one_line(run("classify " + kSets + "-d cpu:99"), 1, "cpu:99");
  expect_one_line(run("classify --train d/train-labels-idx1-ubyte.gz d/train-images-idx3-ubyte.gz --test no no"), 1,
                  "labels are one a row: IMAGES come first");
  expect_one_line(run("classify --train d/train-images-idx3-ubyte.gz d/t10k-labels-idx1-ubyte.gz --test no no"), 1,
                  "holds 400 rows, but the file of training labels 'd/t10k-labels-idx1-ubyte.gz' holds 90 labels");
  expect_one_line(run("digits --out d --gzip"), 1, "is there already; --force allows to replace it");
  expect_one_line(run("digits --out no/such"), 1, "the folder 'no/such' cannot be made");
}

TEST_F(ClassifyProgramTest, places_that_cannot_be_written_are_told) {
  const Outcome full = run("classify " + kSets + "-d cpu:0 --json /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_NE(full.standard_error.find("the result file '/dev/full' cannot be written: No space left"), std::string::npos)
      << full.standard_error;
  expect_one_line(run("classify " + kSets + "-d cpu:0 --answers no/such"), 1, "the file of answers 'no/such'");
}

TEST_F(ClassifyProgramTest, a_signal_leaves_nothing_behind) {
  const std::string limit = "timeout --foreground --preserve-status -s TERM 1 \"$tessera\" ";
  const Outcome drawing = run_line(scratch, limit + "digits --out e --count 10000000");
  EXPECT_EQ(drawing.exit_code, 143);
  EXPECT_EQ(drawing.standard_error, "tessera: interrupted by SIGTERM\n");
  EXPECT_EQ(scratch.names(), std::set<std::string>{"d"});
  // Images that never come.
  const Outcome waiting = run_line(
      scratch, "mkfifo pipe && " + limit +
                   "classify --train pipe d/train-labels-idx1-ubyte.gz --test "
                   "d/t10k-images-idx3-ubyte.gz d/t10k-labels-idx1-ubyte.gz -d cpu:0 --json result.json --answers a");
  EXPECT_EQ(waiting.exit_code, 143);
  EXPECT_EQ(waiting.standard_error, "tessera: interrupted by SIGTERM\n");
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"d", "pipe"}));
}

TEST_F(ClassifyProgramTest, images_come_through_standard_input) {
  const Outcome outcome =
      run("classify --train - d/train-labels-idx1-ubyte.gz --test d/t10k-images-idx3-ubyte.gz "
          "d/t10k-labels-idx1-ubyte.gz -d cpu:0 <d/train-images-idx3-ubyte.gz");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
}

}  // namespace
