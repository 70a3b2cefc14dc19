// The machine's site file: who it concerns, and that no line of it is skipped.
#include "site_file.h"

#include <gtest/gtest.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "expect_error.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

const std::string kForbidTurned =
    R"({"action":"forbid","operator":"gemm","variant":"turned","because":"it heats the room"})";
const std::string kForbidNaive =
    R"({"action":"forbid","operator":"gemm","variant":"naive","device":"minimal:*","because":"it is slow"})";
const std::string kForceTurned =
    R"({"action":"force","operator":"gemm","variant":"turned","device":"minimal device","because":"it was asked for"})";

TEST(SitePatternTest, a_star_stands_for_any_letters) {
  using detail::matches_pattern;
  EXPECT_TRUE(matches_pattern("cuda:0", "cuda:0"));
  EXPECT_TRUE(matches_pattern("cuda:*", "cuda:0"));
  EXPECT_TRUE(matches_pattern("*H200*", "NVIDIA H200 NVL"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("a*b*c", "axbxbxc"));
  EXPECT_FALSE(matches_pattern("cuda:*", "opencl:0"));
  EXPECT_FALSE(matches_pattern("", "cuda:0"));
  EXPECT_FALSE(matches_pattern("cuda:0", "cuda:01"));
  EXPECT_FALSE(matches_pattern("a*b*c", "axbxb"));
}

class SiteFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    if (const char* before = std::getenv("TESSERA_SITE_FILE")) before_ = before;
  }
  void TearDown() override {
    ::setenv("TESSERA_SITE_FILE", before_.c_str(), 1);
    fs::remove_all(folder_);
  }
  /// A file of its own each time, because each is read once a process.
  std::string use(const std::string& text) {
    const std::string path = folder_ / ("site" + std::to_string(++count_) + ".jsonl");
    std::ofstream(path, std::ios::binary) << text;
    ::setenv("TESSERA_SITE_FILE", path.c_str(), 1);
    return path;
  }
  [[nodiscard]] std::string chosen(const KernelOptions& options = {}) const {
    return device_.kernel(Gemm{.m = 4, .n = 4, .k = 4}, options).info().variant;
  }

  fs::path folder_ = fs::temp_directory_path() / ("tessera_site_" + std::to_string(::getpid()));
  std::string before_;
  static inline int count_ = 0;
  Device device_ = open("minimal:0");
};

TEST_F(SiteFileTest, what_is_forbidden_cannot_run_and_says_why) {
  const std::string path = use(kForbidNaive + "\n");
  EXPECT_EQ(chosen(), "turned");
  EXPECT_ERROR((void)chosen({.variant = "naive"}), ErrorCode::unsupported, "cannot run on minimal:0", path,
               "forbids it: it is slow");
  const auto reports = explain(Gemm{.m = 4, .n = 4, .k = 4}, device_);
  EXPECT_FALSE(reports.at(0).can_run);
  EXPECT_EQ(reports.at(0).because, "the site file " + path + " forbids it: it is slow");
  EXPECT_EQ(reports.at(0).site, reports.at(0).because);
  EXPECT_TRUE(reports.at(1).is_default);
  EXPECT_EQ(reports.at(1).site, "");
  EXPECT_EQ(device_.kernel(Conv2d{.height = 1, .width = 1, .filter_height = 1, .filter_width = 1, .filter = {1}})
                .info()
                .variant,
            "naive")
      << "of another operator";
  const TuningFiles files = tuning_files();
  EXPECT_EQ(files.site, path);
  EXPECT_EQ(files.rules, 1U);
}

TEST_F(SiteFileTest, with_everything_forbidden_the_error_tells_each_reason) {
  use(kForbidNaive + "\n" + kForbidTurned + "\n");
  EXPECT_ERROR((void)chosen(), ErrorCode::unsupported, "it is slow", "it heats the room");
}

TEST_F(SiteFileTest, what_is_forced_is_the_default_but_the_programs_options_come_first) {
  const std::string path = use("\n" + kForceTurned);
  const auto kernel = device_.kernel(Gemm{.m = 4, .n = 4, .k = 4});
  EXPECT_EQ(kernel.info().variant, "turned");
  EXPECT_EQ(kernel.info().chosen_because, "the site file " + path + " forces it: it was asked for");
  EXPECT_EQ(chosen({.variant = "naive"}), "naive");
  EXPECT_EQ(device_.kernel(Gemm{.m = 4, .n = 4, .k = 4}, {.variant = "naive"}).info().chosen_because, "");
  const auto reports = explain(Gemm{.m = 4, .n = 4, .k = 4}, device_);
  EXPECT_TRUE(reports.at(0).is_shipped_default);
  EXPECT_FALSE(reports.at(0).is_default);
  EXPECT_TRUE(reports.at(1).is_default);
  EXPECT_EQ(reports.at(1).site, kernel.info().chosen_because);
}

TEST_F(SiteFileTest, what_is_forced_and_cannot_run_leaves_the_default) {
  use(kForceTurned + "\n" + kForbidTurned);
  EXPECT_EQ(chosen(), "naive");
  use(R"({"action":"force","operator":"gemm","variant":"magic","because":"someone hoped"})");
  EXPECT_EQ(chosen(), "naive");
}

TEST_F(SiteFileTest, rules_of_other_devices_do_not_count) {
  use(R"({"action":"forbid","operator":"gemm","variant":"naive","device":"cuda:*","because":"x"})");
  EXPECT_EQ(chosen(), "naive");
}

TEST_F(SiteFileTest, a_line_that_is_not_right_is_an_error_with_its_number) {
  const auto expect_refusal = [&](const std::string& line, const std::string& why) {
    const std::string path = use(kForbidTurned + "\n" + line + "\n");
    EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, path, "line 2", why);
    EXPECT_ERROR((void)explain(Gemm{}, device_), ErrorCode::invalid_argument, "line 2");
    EXPECT_ERROR((void)tuning_files(), ErrorCode::invalid_argument, "line 2");
  };
  expect_refusal("forbid gemm turned", "an object must begin");
  expect_refusal(kForbidTurned.substr(0, 40), "at letter");
  expect_refusal(R"({"action":"forbid","operator":"gemm","variant":"naive"})", "'because' must be a text");
  expect_refusal(R"({"action":"forbid","operator":"gemm","variant":"naive","because":""})", "'because'");
  expect_refusal(R"({"action":"forbid","operator":"gemm","variant":7,"because":"x"})", "'variant'");
  expect_refusal(R"({"action":"allow","operator":"gemm","variant":"naive","because":"x"})", "'action' is 'allow'");
  expect_refusal(R"({"action":"forbid","operator":"gemm","varaint":"naive","because":"x"})", "no field 'varaint'");
}

TEST_F(SiteFileTest, a_file_that_is_none_is_an_error_if_it_was_named) {
  ::setenv("TESSERA_SITE_FILE", (folder_ / "absent").c_str(), 1);
  EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, "absent", "is not there");
  ::setenv("TESSERA_SITE_FILE", "relative.jsonl", 1);
  EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, "'relative.jsonl'", "absolute path");
  ::setenv("TESSERA_SITE_FILE", folder_.c_str(), 1);
  EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, "must be a regular file");
  use(std::string(2 << 20, '\n'));
  EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, "larger than 1048576 bytes");
}

}  // namespace
}  // namespace tessera
