// A folder of its own for one test, gone after it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace tessera::testing_support {

class ScratchFolder {
 public:
  ScratchFolder() { std::filesystem::create_directories(folder_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code gone;
    std::filesystem::remove_all(folder_, gone);
  }

  [[nodiscard]] std::string path() const { return folder_.string(); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Returns the path.
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }
  /// The files below it, however deep, that hold something: some programs leave empty ones behind.
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file() && entry.file_size() > 0) paths.insert(entry.path());
    }
    return paths;
  }

 private:
  static std::string own_name() {
    const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name =
        std::string("tessera_") + test->test_suite_name() + "_" + test->name() + "_" + std::to_string(::getpid());
    std::ranges::replace(name, '/', '_');  // of tests with parameters
    return name;
  }
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / own_name();
};

}  // namespace tessera::testing_support
