// Tuned values on disk: kernels use them, options and a switch pass them by, writers lose nothing of each other, and
// what cannot be trusted is left alone.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr Gemm kTuned{.m = 100, .n = 100, .k = 100};

TuningResult turned_is_faster(const std::string& default_variant = "naive") {
  return {.default_variant = default_variant,
          .default_s = 2e-3,
          .problem = "m=100,n=100,k=100",
          .records = {{TuningVerdict::faster, "turned", {}, 1e-3, ""}}};
}

class TuningFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("TESSERA_DATA_DIR")) before_ = before;
    use_folder("data");
  }
  void TearDown() override {
    ::unsetenv("TESSERA_TUNING");
    ::setenv("TESSERA_DATA_DIR", before_.c_str(), 1);
    fs::remove_all(scratch_);
  }
  void use_folder(const std::string& name) {
    fs::create_directories(scratch_);
    root_ = scratch_ / name;
    ::setenv("TESSERA_DATA_DIR", root_.c_str(), 1);
  }
  /// In a folder that this process has not looked into, so that it will.
  void use_file(const std::string& text) {
    use_folder("data" + std::to_string(++count_));
    fs::create_directories(root_ / "tuning");
    fs::permissions(root_, fs::perms(0700));
    fs::permissions(root_ / "tuning", fs::perms(0700));
    std::ofstream(file(), std::ios::binary) << text;
    fs::permissions(file(), fs::perms(0600));
  }
  [[nodiscard]] fs::path file() const { return root_ / "tuning" / "results.jsonl"; }
  [[nodiscard]] std::string text() const {
    std::ifstream stream(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::string chosen(const Gemm& problem = kTuned, const KernelOptions& options = {}) const {
    return device_.kernel(problem, options).info().variant;
  }
  [[nodiscard]] VariantReport row(const std::string& variant, const Gemm& problem = kTuned) const {
    for (VariantReport& report : explain(problem, device_)) {
      if (report.variant == variant) return std::move(report);
    }
    ADD_FAILURE() << "no " << variant;
    return {};
  }

  fs::path scratch_ = fs::temp_directory_path() / ("tessera_tuning_" + std::to_string(::getpid()));
  fs::path root_;
  std::string before_;
  int count_ = 0;
  Device device_ = open("minimal:0");
};

TEST_F(TuningFileTest, nothing_is_made_where_nothing_was_tuned) {
  EXPECT_EQ(chosen(), "naive");
  EXPECT_FALSE(row("naive").tuned.has_value());
  EXPECT_FALSE(fs::exists(root_));
  EXPECT_EQ(tuning_files().entries, 0U);
  EXPECT_EQ(tuning_files().results, file().string());
  EXPECT_TRUE(tuning_files().complaints.empty());
}

TEST_F(TuningFileTest, kernels_of_the_class_use_it_and_say_so) {
  remember_tuning(kTuned, device_, turned_is_faster());
  const auto kernel = device_.kernel(kTuned);
  EXPECT_EQ(kernel.info().variant, "turned");
  EXPECT_EQ(kernel.info().chosen_because, "it was tuned on this machine: " + file().string());
  EXPECT_EQ(chosen({.m = 120, .n = 91, .k = 128}), "turned") << "another size of the class";
  EXPECT_EQ(chosen({.m = 300, .n = 100, .k = 100}), "naive");
  EXPECT_EQ(chosen({.m = 100, .n = 100, .k = 100, .type = DataType::float64}), "naive");
  EXPECT_EQ(device_.kernel({.m = 300, .n = 100, .k = 100}).info().chosen_because, "");

  const VariantReport turned = row("turned");
  EXPECT_TRUE(turned.is_default);
  EXPECT_FALSE(turned.is_shipped_default);
  ASSERT_TRUE(turned.tuned.has_value());
  EXPECT_EQ(turned.tuned->measured_s, 1e-3);
  EXPECT_EQ(turned.tuned->default_s, 2e-3);
  EXPECT_EQ(turned.tuned->problem, "m=100,n=100,k=100");
  EXPECT_EQ(turned.tuned->source, file().string());
  EXPECT_EQ(turned.tuned->because, "");
  EXPECT_EQ(turned.tuned->when.size(), std::string("2026-03-01T12:00:00Z").size());
  const VariantReport naive = row("naive");
  EXPECT_FALSE(naive.is_default);
  EXPECT_TRUE(naive.is_shipped_default);
  EXPECT_FALSE(naive.tuned.has_value());
}

TEST_F(TuningFileTest, options_and_the_switch_pass_it_by) {
  remember_tuning(kTuned, device_, turned_is_faster());
  EXPECT_EQ(chosen(kTuned, {.variant = "naive"}), "naive");
  EXPECT_ERROR((void)chosen(kTuned, {.tuning = {{"tile", 8}}}), ErrorCode::invalid_argument, "variant 'naive'");
  ::setenv("TESSERA_TUNING", "off", 1);
  EXPECT_EQ(chosen(), "naive");
  EXPECT_FALSE(row("turned").tuned.has_value());
  EXPECT_EQ(tuning_files().results, "");
  ::setenv("TESSERA_TUNING", "on", 1);
  EXPECT_EQ(chosen(), "turned");
  ::setenv("TESSERA_TUNING", "maybe", 1);
  EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, "$TESSERA_TUNING", "'maybe'", "on or off");
  ::unsetenv("TESSERA_TUNING");
  ::setenv("TESSERA_DATA_DIR", "relative", 1);
  EXPECT_ERROR((void)chosen(), ErrorCode::invalid_argument, "$TESSERA_DATA_DIR", "'relative'", "absolute path");
}

TEST_F(TuningFileTest, a_search_that_found_nothing_faster_changes_nothing) {
  remember_tuning(kTuned, device_,
                  {.default_variant = "naive",
                   .default_s = 2e-3,
                   .records = {{TuningVerdict::not_faster, "naive", {}, 2e-3, ""},
                               {TuningVerdict::wrong, "turned", {}, 0, "element 7 is 4, but must be 1"}}});
  EXPECT_EQ(chosen(), "naive");
  EXPECT_EQ(device_.kernel(kTuned).info().chosen_because, "");
  ASSERT_TRUE(row("naive").tuned.has_value());
  EXPECT_NE(row("naive").tuned->because.find("nothing that was tried is faster"), std::string::npos);
  ASSERT_EQ(row("turned").rejected.size(), 1U);
  EXPECT_EQ(row("turned").rejected[0], "without tunables is wrong: element 7 is 4, but must be 1");
  EXPECT_EQ(tuning_files().entries, 2U);

  remember_tuning(kTuned, device_, turned_is_faster());
  EXPECT_EQ(tuning_files().entries, 1U) << "a new search replaces all of the class";
  EXPECT_TRUE(row("turned").rejected.empty());
  EXPECT_EQ(chosen(), "turned");
}

TEST_F(TuningFileTest, a_measurement_overrules_only_the_default_that_it_beat) {
  remember_tuning(kTuned, device_, turned_is_faster("turned"));
  EXPECT_EQ(chosen(), "naive");
  EXPECT_EQ(row("turned").tuned->because, "it was faster than turned, but the default for this problem is naive");
}

TEST_F(TuningFileTest, results_that_no_search_can_have_are_refused) {
  const auto refuse = [&](const TuningResult& result, const std::string& why) {
    EXPECT_ERROR(remember_tuning(kTuned, device_, result), ErrorCode::invalid_argument, "the tuning result", why);
  };
  TuningResult result = turned_is_faster();
  result.records[0].measured_s = 0;
  refuse(result, "'turned' takes 0 s");
  result.records[0].measured_s = std::numeric_limits<double>::quiet_NaN();
  refuse(result, "finite");
  result = turned_is_faster();
  result.records[0].variant = "magic";
  refuse(result, "'magic'");
  result = turned_is_faster("magic");
  refuse(result, "'magic'");
  result = turned_is_faster();
  result.default_s = -1;
  refuse(result, "-1 s");
  result = turned_is_faster();
  result.records.push_back(result.records[0]);
  refuse(result, "more than one");
  result.records = {{TuningVerdict::wrong, "turned", {}, 0, ""}};
  refuse(result, "without a sentence");
  result = turned_is_faster();
  result.records[0].tuning = {{"tile", 8}};
  EXPECT_ERROR(remember_tuning(kTuned, device_, result), ErrorCode::invalid_argument, "'tile'");
  EXPECT_ERROR(remember_tuning(Gemm{.m = -1}, device_, turned_is_faster()), ErrorCode::invalid_argument, "m of gemm");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(TuningFileTest, another_process_finds_it_and_damage_is_told) {
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
  remember_tuning({.m = 1, .n = 1, .k = 1}, device_, turned_is_faster());
  EXPECT_EQ(tuning_files().complaints.size(), 1U) << "damaged lines are left out when it is written next";
  EXPECT_NE(text().find("{\"format\":3}\n"), std::string::npos);
}

TEST_F(TuningFileTest, hostile_values_are_never_used) {
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

TEST_F(TuningFileTest, what_others_could_have_written_is_left_alone) {
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

TEST_F(TuningFileTest, where_nothing_can_be_written_it_says_so) {
  use_folder("blocked");
  std::ofstream(root_) << "a file stands in the way";
  EXPECT_ERROR(remember_tuning(kTuned, device_, turned_is_faster()), ErrorCode::unavailable, "cannot be kept",
               root_.string());
  EXPECT_EQ(chosen(), "naive");
}

TEST_F(TuningFileTest, it_is_this_users_alone) {
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

TEST_F(TuningFileTest, two_writers_lose_nothing) {
  constexpr int kWriters = 4;
  constexpr int kEach = 12;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        const Device device = open("minimal:0");
        for (int i = 0; i < kEach; ++i) remember_tuning(problem_of(writer * kEach + i), device, turned_is_faster());
        ::_exit(0);
      } catch (...) {
        ::_exit(1);
      }
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    // A driver that does not outlive a fork: then threads alone write, below.
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ADD_FAILURE() << "a writer failed";
  }
  remember_tuning(problem_of(kWriters * kEach), device_, turned_is_faster());
  EXPECT_EQ(tuning_files().entries, std::size_t{kWriters * kEach + 1});
  EXPECT_TRUE(tuning_files().complaints.empty());
}

TEST_F(TuningFileTest, threads_write_and_choose_at_once) {
  constexpr int kThreads = 4;
  constexpr int kEach = 8;
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

TEST_F(TuningFileTest, the_results_are_the_same) {
  constexpr Gemm kSmall{.m = 3, .n = 5, .k = 7};
  std::vector<float> a(21);
  std::vector<float> b(35);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 5);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 3) - 1;
  const auto product = [&] {
    Queue queue(device_);
    const auto c = device_.allocate<float>(15);
    queue.run(device_.kernel(kSmall), {.a = device_.upload<float>(a), .b = device_.upload<float>(b), .c = c});
    std::vector<float> host(15);
    queue.download(c, std::span<float>(host));
    queue.finish();
    return host;
  };
  const std::vector<float> before = product();
  remember_tuning(kSmall, device_, turned_is_faster());
  ASSERT_EQ(chosen(kSmall), "turned");
  EXPECT_EQ(product(), before) << "whole numbers: exact in any order";
}

}  // namespace
}  // namespace tessera
