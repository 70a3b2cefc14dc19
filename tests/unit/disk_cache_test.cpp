// The cache on disk: whole values or nothing, whatever happened to the file.
#include "backend/disk_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "expect_error.h"

namespace tessera::backend {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class DiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* before = std::getenv("TESSERA_CACHE_DIR");
    before_ = before != nullptr ? before : "";
    folder_ = fs::temp_directory_path() / ("tessera_disk_cache_test_" + std::to_string(::getpid()));
    ::setenv("TESSERA_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    if (before_.empty())
      ::unsetenv("TESSERA_CACHE_DIR");
    else
      ::setenv("TESSERA_CACHE_DIR", before_.c_str(), 1);
  }
  std::string found(std::string_view key) {
    const auto value = cache_.find(key);
    return value ? std::string(reinterpret_cast<const char*>(value->data()), value->size()) : "nothing";
  }

  std::string before_;
  fs::path folder_;
  DiskCache cache_{"programs"};
};

TEST_F(DiskCacheTest, gives_back_what_was_stored) {
  EXPECT_EQ(found("key"), "nothing");
  cache_.store("key", bytes("value"));
  cache_.store("empty", {});
  EXPECT_EQ(found("key"), "value");
  EXPECT_EQ(found("empty"), "");
  cache_.store("key", bytes("another"));
  EXPECT_EQ(found("key"), "another");
}

TEST_F(DiskCacheTest, every_damaged_byte_is_noticed) {
  cache_.store("key", bytes("value"));
  const fs::path path = cache_.path_of("key");
  const auto size = static_cast<std::size_t>(fs::file_size(path));
  for (std::size_t i = 0; i < size; ++i) {
    cache_.store("key", bytes("value"));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(i));
    const char old = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(i));
    file.put(static_cast<char>(old ^ 0x10));
    file.close();
    EXPECT_EQ(found("key"), "nothing") << "byte " << i;
  }
}

TEST_F(DiskCacheTest, cut_and_lengthened_files_are_ignored) {
  cache_.store("key", bytes("value"));
  const fs::path path = cache_.path_of("key");
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{5}, fs::file_size(path) - 1}) {
    cache_.store("key", bytes("value"));
    fs::resize_file(path, size);
    EXPECT_EQ(found("key"), "nothing") << size;
  }
  cache_.store("key", bytes("value"));
  std::ofstream(path, std::ios::app) << "more";
  EXPECT_EQ(found("key"), "nothing");
}

TEST_F(DiskCacheTest, a_foreign_key_in_the_same_file_is_not_taken) {
  cache_.store("key one", bytes("value"));
  fs::copy_file(cache_.path_of("key one"), cache_.path_of("key two"));
  EXPECT_EQ(found("key two"), "nothing");
}

TEST_F(DiskCacheTest, a_folder_that_cannot_be_written_only_costs_time) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "programs") << "a file stands where the folder should be";
  cache_.store("key", bytes("value"));
  EXPECT_EQ(found("key"), "nothing");
}

TEST_F(DiskCacheTest, writers_do_not_disturb_readers) {
  const std::string one(100000, 'a');
  const std::string two(100000, 'b');
  cache_.store("key", bytes(one));
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) cache_.store("key", bytes(i % 2 == 0 ? two : one));
  });
  for (int i = 0; i < 50; ++i) {
    const std::string value = found("key");
    EXPECT_TRUE(value == one || value == two) << value.size();
  }
  writer.join();
}

TEST_F(DiskCacheTest, the_folder_is_chosen_by_the_environment) {
  EXPECT_EQ(cache_directory(), folder_);
  ::setenv("TESSERA_CACHE_DIR", "here", 1);
  EXPECT_ERROR((void)cache_directory(), ErrorCode::invalid_argument, "'here'", "absolute");
  ::setenv("TESSERA_CACHE_DIR", "", 1);
  ::setenv("XDG_CACHE_HOME", "/var/cache/someone", 1);
  EXPECT_EQ(cache_directory(), "/var/cache/someone/tessera");
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace tessera::backend
