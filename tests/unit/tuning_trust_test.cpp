// The file of tuned values in others' hands: damaged, hostile, not this user's alone, written by many at once.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tessera/tessera.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "support/child_process.h"
#include "tuning_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

class TuningTrustTest : public TuningFolderTest {};

TEST_F(TuningTrustTest, another_process_finds_it_and_damage_is_told) {
  remember_tuning(kTuned, device_, turned_is_faster());
  const std::string good = text();
  use_file("{\"format\":1,\"cut\n" + good + "<script>alert(1)</script>\n{\"format\":3}\n");
  EXPECT_EQ(chosen(), "turned") << "read anew, as another process would";
  const TuningFiles files = tuning_files();
  EXPECT_EQ(files.entries, 1U);
  ASSERT_EQ(files.complaints.size(), 3U);
  EXPECT_EQ(files.complaints[0].find(file().string() + ": line 1 is damaged: "), 0U) << files.complaints[0];
  EXPECT_NE(files.complaints[1].find("line 3 is damaged"), std::string::npos) << files.complaints[1];
  EXPECT_NE(files.complaints[2].find("line 4 is in the format of another version"), std::string::npos);
  remember_tuning(Gemm{.m = 1, .n = 1, .k = 1}, device_, turned_is_faster());
  EXPECT_EQ(tuning_files().complaints.size(), 1U) << "damaged lines are left out when it is written next";
  EXPECT_NE(text().find("{\"format\":3}\n"), std::string::npos);
}

TEST_F(TuningTrustTest, hostile_values_are_never_used) {
  remember_tuning(kTuned, device_, turned_is_faster());
  const std::string good = text();
  const auto with = [&](const std::string& part, const std::string& by) {
    std::string line = good;
    use_file(line.replace(line.find(part), part.size(), by));
    EXPECT_EQ(chosen(), "naive") << line;
    return tuning_files();
  };
  EXPECT_EQ(with("\"tuning\":{}", "\"tuning\":{\"tile\":9223372036854775807}").entries, 1U);
  EXPECT_NE(row("turned").tuned->because.find("'tile' is unknown"), std::string::npos) << row("turned").tuned->because;
  EXPECT_EQ(with("\"turned\"", "\"<img src=x onerror=alert(1)>\"").entries, 1U);
  EXPECT_EQ(with("0.001", "1e999").entries, 0U);
  EXPECT_EQ(with("0.001", "null").entries, 0U);
  EXPECT_EQ(with("\"gemm\"", "\"conv2d\"").entries, 1U);
  EXPECT_EQ(with("\"kernels\":\"", "\"kernels\":\"0").entries, 1U);
  EXPECT_EQ(with("\"library\":\"", "\"library\":\"9").entries, 1U);
  std::string huge;
  while (huge.size() < (std::size_t{17} << 20)) huge += good;
  use_file(huge);
  EXPECT_EQ(chosen(), "naive");
  ASSERT_EQ(tuning_files().complaints.size(), 1U);
  EXPECT_NE(tuning_files().complaints[0].find("at most 16777216 bytes"), std::string::npos);
}

TEST_F(TuningTrustTest, what_others_could_have_written_is_left_alone) {
  remember_tuning(kTuned, device_, turned_is_faster());
  const std::string good = text();
  const auto expect_unused = [&] {
    EXPECT_EQ(chosen(), "naive");
    ASSERT_EQ(tuning_files().complaints.size(), 1U);
    EXPECT_NE(tuning_files().complaints[0].find("it is not used: "), std::string::npos);
    EXPECT_ERROR(remember_tuning(kTuned, device_, turned_is_faster()), ErrorCode::unavailable, "cannot be kept");
  };
  use_file(good);
  fs::permissions(file(), fs::perms(0660));
  expect_unused();
  EXPECT_EQ(text(), good) << "minutes of work are not removed";
  use_file(good);
  fs::permissions(root_ / "tuning", fs::perms(0770));
  expect_unused();
  use_file(good);
  fs::rename(file(), root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", file());
  expect_unused();
  EXPECT_TRUE(fs::is_symlink(file()));
}

TEST_F(TuningTrustTest, where_nothing_can_be_written_it_says_so) {
  use_folder("blocked");
  std::ofstream(root_) << "a file stands in the way";
  EXPECT_ERROR(remember_tuning(kTuned, device_, turned_is_faster()), ErrorCode::unavailable, "cannot be kept",
               root_.string());
  EXPECT_EQ(chosen(), "naive");
}

TEST_F(TuningTrustTest, it_is_this_users_alone) {
  const mode_t mask = ::umask(0);
  remember_tuning(kTuned, device_, turned_is_faster());
  ::umask(mask);
  struct stat facts = {};
  for (const fs::path& path : {root_, root_ / "tuning"}) {
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0700U) << path;
  }
  ASSERT_EQ(::stat(file().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0600U);
}

/// A class of its own for each number.
Gemm problem_of(int number) {
  return {.m = std::int64_t{1} << (number % 8), .n = std::int64_t{1} << (number / 8), .k = 1};
}

constexpr int kWriters = 4;
constexpr int kEach = 12;
constexpr const char* kWriterVariable = "TESSERA_TEST_WRITER";

TEST_F(TuningTrustTest, processes_that_write_at_once_lose_nothing) {
  using testing_support::ChildResult;
  std::vector<ChildResult> results(kWriters);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      results[static_cast<std::size_t>(writer)] = testing_support::run_child(
          testing_support::this_program(),
          {"--gtest_also_run_disabled_tests", "--gtest_filter=TuningWriterTest.DISABLED_writes"},
          {{"TESSERA_DATA_DIR", root_.string()}, {kWriterVariable, std::to_string(writer)}});
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (const ChildResult& result : results) EXPECT_EQ(result.status, 0) << result.output;
  remember_tuning(problem_of(kWriters * kEach), device_, turned_is_faster());
  EXPECT_EQ(tuning_files().entries, std::size_t{kWriters * kEach + 1});
  EXPECT_TRUE(tuning_files().complaints.empty());
  for (int i = 0; i <= kWriters * kEach; ++i) EXPECT_EQ(chosen(problem_of(i)), "turned") << i;
}

/// One of the processes.
TEST(TuningWriterTest, DISABLED_writes) {
  const char* const number = std::getenv(kWriterVariable);
  ASSERT_NE(number, nullptr) << "run by another test";
  const Device device = open("minimal:0");
  for (int i = 0; i < kEach; ++i)
    remember_tuning(problem_of(std::stoi(number) * kEach + i), device, turned_is_faster());
}

TEST_F(TuningTrustTest, threads_write_and_choose_at_once) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        const Gemm problem = problem_of(thread * kEach + i);
        remember_tuning(problem, device_, turned_is_faster());
        EXPECT_FALSE(chosen(problem).empty());
        EXPECT_FALSE(explain(problem, device_).empty());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  use_file(text());
  EXPECT_EQ(tuning_files().entries, std::size_t{kThreads * kEach});
  for (int i = 0; i < kThreads * kEach; ++i) EXPECT_EQ(chosen(problem_of(i)), "turned") << i;
}

}  // namespace
}  // namespace tessera
