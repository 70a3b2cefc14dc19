// A folder of tuned values for each test, and a device of the smallest backend that takes them.
#pragma once

#include <gtest/gtest.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace tessera {

inline constexpr Gemm kTuned{.m = 100, .n = 100, .k = 100};

inline TuningResult turned_is_faster(const std::string& default_variant = "naive") {
  return {.default_variant = default_variant,
          .default_s = 2e-3,
          .problem = "m=100,n=100,k=100",
          .records = {{TuningVerdict::faster, "turned", {}, 1e-3, ""}}};
}

class TuningFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("TESSERA_DATA_DIR")) before_ = before;
    use_folder("data0");
  }
  void TearDown() override {
    ::unsetenv("TESSERA_TUNING");
    ::setenv("TESSERA_DATA_DIR", before_.c_str(), 1);
    std::filesystem::remove_all(scratch_);
  }
  void use_folder(const std::string& name) {
    std::filesystem::create_directories(scratch_);
    root_ = scratch_ / name;
    ::setenv("TESSERA_DATA_DIR", root_.c_str(), 1);
  }
  /// In a folder that this process has not looked into, so that it will.
  void use_file(const std::string& text) {
    use_folder("data" + std::to_string(++count_));
    std::filesystem::create_directories(root_ / "tuning");
    std::filesystem::permissions(root_, std::filesystem::perms(0700));
    std::filesystem::permissions(root_ / "tuning", std::filesystem::perms(0700));
    std::ofstream(file(), std::ios::binary) << text;
    std::filesystem::permissions(file(), std::filesystem::perms(0600));
  }
  [[nodiscard]] std::filesystem::path file() const { return root_ / "tuning" / "results.jsonl"; }
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

  /// Another for each test: a folder is looked into once a process.
  static std::filesystem::path scratch_folder() {
    static int count = 0;
    return std::filesystem::temp_directory_path() /
           ("tessera_tuning_" + std::to_string(::getpid()) + "_" + std::to_string(++count));
  }

  std::filesystem::path scratch_ = scratch_folder();
  std::filesystem::path root_;
  std::string before_;
  int count_ = 0;
  Device device_ = open("minimal:0");
};

}  // namespace tessera
