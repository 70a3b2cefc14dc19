// Whose files the cache trusts: this user's alone, in folders that nobody else can write, and never through a link. The
// cache holds native code, so that whoever can write it runs as this user.
#include "backend/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "expect_error.h"

namespace tessera::backend {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebodyElse = 65534;

std::span<const std::byte> content(const std::string& text) {
  return std::as_bytes(std::span(text));
}

mode_t rights_of(const fs::path& path) {
  struct stat facts = {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << path;
  return facts.st_mode & 07777U;
}

bool is_there(const fs::path& path) {
  return fs::symlink_status(path).type() != fs::file_type::not_found;
}

class DiskCacheTrustTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("TESSERA_CACHE_DIR")) before_ = before;
    fs::create_directory(outside_);
    set_root(root_);
    mask_ = ::umask(0);  // the widest rights that a program could be started with
  }
  void TearDown() override {
    ::umask(mask_);
    fs::remove_all(outside_);
    ::setenv("TESSERA_CACHE_DIR", before_.c_str(), 1);
  }
  static void set_root(const fs::path& root) { ::setenv("TESSERA_CACHE_DIR", root.c_str(), 1); }
  std::string found(std::string_view key) {
    const auto value = cache_.find(key);
    return value ? std::string(reinterpret_cast<const char*>(value->data()), value->size()) : "nothing";
  }
  fs::path stored_file() {
    cache_.store("key", content("value"));
    EXPECT_EQ(found("key"), "value");
    return cache_.path_of("key");
  }
  /// What is not trusted is not found, and does not stay; the next value is.
  void expect_removed(const fs::path& file) {
    EXPECT_EQ(found("key"), "nothing");
    EXPECT_FALSE(is_there(file));
    EXPECT_EQ(stored_file(), file);
  }
  /// Nothing is found in the folders as they are, and nothing is put there.
  void expect_unused(const fs::path& file) {
    const auto before = fs::exists(file) ? fs::last_write_time(file) : fs::file_time_type();
    EXPECT_EQ(found("key"), "nothing");
    cache_.store("key", content("another"));
    cache_.store("more", content("value"));
    EXPECT_EQ(found("key"), "nothing");
    EXPECT_FALSE(is_there(cache_.path_of("more")));
    if (fs::exists(file)) {
      EXPECT_EQ(fs::last_write_time(file), before);
    }
  }

  fs::path outside_ = fs::temp_directory_path() / ("tessera_disk_cache_trust_" + std::to_string(::getpid()));
  fs::path root_ = outside_ / "a" / "b";
  DiskCache cache_{"programs"};

 private:
  std::string before_;
  mode_t mask_ = 0;
};

TEST_F(DiskCacheTrustTest, everything_is_made_for_this_user_alone) {
  const fs::path file = stored_file();
  EXPECT_EQ(rights_of(outside_ / "a"), 0700U);
  EXPECT_EQ(rights_of(root_), 0700U);
  EXPECT_EQ(rights_of(root_ / "programs"), 0700U);
  EXPECT_EQ(rights_of(file), 0600U);
}

TEST_F(DiskCacheTrustTest, folders_that_others_can_write_are_not_used) {
  const fs::path file = stored_file();
  for (const fs::path& folder : {root_, root_ / "programs"}) {
    for (const mode_t rights : {0720U, 0702U, 0777U, 01777U}) {
      SCOPED_TRACE(folder.string());
      ASSERT_EQ(::chmod(folder.c_str(), rights), 0);
      expect_unused(file);
      EXPECT_EQ(rights_of(folder), rights);
    }
    ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
    EXPECT_EQ(found("key"), "value") << "others may read";
  }
}

TEST_F(DiskCacheTrustTest, files_that_others_can_write_are_removed) {
  for (const mode_t rights : {0620U, 0602U, 0666U}) {
    const fs::path file = stored_file();
    ASSERT_EQ(::chmod(file.c_str(), rights), 0);
    expect_removed(file);
  }
}

TEST_F(DiskCacheTrustTest, what_is_another_users_is_not_used) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const fs::path file = stored_file();
  ASSERT_EQ(::chown(file.c_str(), kSomebodyElse, kSomebodyElse), 0);
  expect_removed(file);
  for (const fs::path& folder : {root_ / "programs", root_}) {
    ASSERT_EQ(::chown(folder.c_str(), kSomebodyElse, kSomebodyElse), 0);
    expect_unused(file);
    ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
    EXPECT_EQ(found("key"), "value");
  }
}

TEST_F(DiskCacheTrustTest, links_in_a_files_place_are_removed_and_not_followed) {
  const fs::path file = stored_file();
  const fs::path kept = outside_ / "kept";
  fs::rename(file, kept);
  fs::create_symlink(kept, file);
  expect_removed(file);
  EXPECT_TRUE(fs::is_regular_file(kept));
  fs::remove(file);
  fs::create_symlink(kept, file);
  cache_.store("key", content("another"));
  EXPECT_FALSE(fs::is_symlink(file));
  EXPECT_EQ(found("key"), "another");
}

TEST_F(DiskCacheTrustTest, links_to_folders_are_not_followed) {
  const fs::path file = stored_file();
  fs::rename(root_ / "programs", outside_ / "kept");
  fs::create_directory_symlink(outside_ / "kept", root_ / "programs");
  expect_unused(outside_ / "kept" / file.filename());
  fs::remove(root_ / "programs");
  fs::rename(outside_ / "kept", root_ / "programs");
  EXPECT_EQ(found("key"), "value");

  fs::create_directory_symlink(root_, outside_ / "link");
  for (const char* name : {"link", "link/", "link/.", "link//./"}) {
    SCOPED_TRACE(name);
    set_root(outside_ / name);
    expect_unused(file);
  }
  set_root(root_.string() + "//");
  EXPECT_EQ(found("key"), "value");
}

TEST_F(DiskCacheTrustTest, temporary_files_are_never_written_through_a_link) {
  const fs::path file = stored_file();
  const fs::path victim = outside_ / "victim";
  std::ofstream(victim) << "as it was";
  for (int i = 0; i < 1000; ++i) {
    fs::create_symlink(victim, file.string() + "." + std::to_string(::getpid()) + "." + std::to_string(i) + ".part");
  }
  for (int i = 0; i < 20; ++i) cache_.store("key", content("another"));
  std::string content;
  std::getline(std::ifstream(victim), content);
  EXPECT_EQ(content, "as it was");
}

TEST_F(DiskCacheTrustTest, a_fifo_does_not_hold_the_program_up) {
  const fs::path file = stored_file();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_removed(file);
}

TEST_F(DiskCacheTrustTest, a_file_that_lies_about_its_size_is_removed) {
  const fs::path file = stored_file();
  for (const std::uint64_t lie :
       {std::uint64_t{4}, std::uint64_t{6}, std::uint64_t{1} << 40, UINT64_MAX - 34, UINT64_MAX}) {
    for (const std::streamoff field : {8, 16}) {  // the key's size, the value's
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(field);
      stream.write(reinterpret_cast<const char*>(&lie), sizeof lie);
      stream.close();
      SCOPED_TRACE(lie);
      expect_removed(file);
    }
  }
}

TEST_F(DiskCacheTrustTest, a_file_of_a_terabyte_is_removed_and_not_read) {
  const fs::path file = stored_file();
  constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;
  const std::uint64_t value_size = kTerabyte - 32 - 3;
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(16);
  stream.write(reinterpret_cast<const char*>(&value_size), sizeof value_size);
  stream.close();
  if (::truncate(file.c_str(), static_cast<off_t>(kTerabyte)) != 0) GTEST_SKIP() << "no file may be that long here";
  expect_removed(file);
}

TEST_F(DiskCacheTrustTest, a_folder_is_one_name) {
  for (const char* name : {"", ".", "..", "a/b", "/tmp", "../programs"}) {
    EXPECT_ERROR(DiskCache{name}, ErrorCode::invalid_argument, std::string("'") + name + "'", "one name");
    EXPECT_ERROR((void)find_in_cache(name, "key"), ErrorCode::invalid_argument, "one name");
  }
  store_in_cache("programs", "key", "value");
  EXPECT_EQ(find_in_cache("programs", "key"), "value");
  EXPECT_EQ(found("key"), "value");
}

}  // namespace
}  // namespace tessera::backend
