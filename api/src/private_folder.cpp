// Opening, checking and writing by descriptors. What matters is checked on what was opened, never on a name before.
#include "private_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace tessera::detail {
namespace {

constexpr mode_t kFolderRights = 0700;
constexpr mode_t kFileRights = 0600;
constexpr int kMostNames = 100;

/// A descriptor that is closed with the scope.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { static_cast<void>(close()); }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  [[nodiscard]] bool close() noexcept { return number_ >= 0 && ::close(release()) == 0; }

 private:
  int number_;
};

/// Only this user, and nobody else but root, could have written it.
bool is_private(const struct stat& facts) {
  return facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// -1 if it is no folder, a link to one, or not private.
int open_private_folder(int parent, const char* name) {
  Descriptor folder(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts = {};
  if (folder.number() < 0 || ::fstat(folder.number(), &facts) != 0 || !is_private(facts)) return -1;
  return folder.release();
}

bool make_folder(const std::filesystem::path& path) {
  return ::mkdir(path.c_str(), kFolderRights) == 0 || errno == EEXIST;
}

bool make_folders(const std::filesystem::path& path) {
  if (make_folder(path)) return true;
  return errno == ENOENT && path.has_relative_path() && make_folders(path.parent_path()) && make_folder(path);
}

/// The path of the folder itself: behind a slash at the end, or a dot, a link would be followed after all.
std::filesystem::path without_slash(std::filesystem::path path) {
  while (path.has_relative_path() && (!path.has_filename() || path.filename() == ".")) path = path.parent_path();
  return path;
}

bool write_whole(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

/// False if the file has fewer bytes.
bool read_whole(int descriptor, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

PrivateFolder::PrivateFolder(const std::filesystem::path& root, const std::string& name, bool makes) {
  const std::filesystem::path path = without_slash(root);
  if (makes && !make_folders(path)) return;
  const Descriptor parent(open_private_folder(AT_FDCWD, path.c_str()));
  if (parent.number() < 0) return;
  if (makes && ::mkdirat(parent.number(), name.c_str(), kFolderRights) != 0 && errno != EEXIST) return;
  descriptor_ = open_private_folder(parent.number(), name.c_str());
}

PrivateFolder::~PrivateFolder() {
  if (lock_ >= 0) ::close(lock_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::vector<std::byte>> PrivateFolder::read(const std::string& name, std::size_t most_bytes,
                                                          Untrusted untrusted) const {
  // O_NONBLOCK: a FIFO must not hold the program up; for a regular file it means nothing.
  const Descriptor file(::openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts = {};
  if (file.number() < 0 || ::fstat(file.number(), &facts) != 0) {
    if (untrusted == Untrusted::removed && (errno == ELOOP || errno == ENXIO)) remove(name);  // a link, a socket
    return std::nullopt;
  }
  if (!S_ISREG(facts.st_mode) || !is_private(facts) || static_cast<std::uintmax_t>(facts.st_size) > most_bytes) {
    if (untrusted == Untrusted::removed) remove(name);
    return std::nullopt;
  }
  try {
    std::vector<std::byte> bytes(static_cast<std::size_t>(facts.st_size));
    if (read_whole(file.number(), bytes)) return bytes;
  } catch (const std::bad_alloc&) {
    // The caller does without what the cache holds.
  }
  return std::nullopt;
}

bool PrivateFolder::write(const std::string& name, std::initializer_list<std::span<const std::byte>> parts) const {
  static std::atomic<unsigned> serial{0};
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  std::string partial;
  int descriptor = -1;
  // A file of that name may be left from a process with the same number, or be written right now by such a process on
  // another machine that shares the folder.
  for (int attempt = 0; descriptor < 0 && attempt < kMostNames; ++attempt) {
    partial = name + "." + std::to_string(::getpid()) + "." + std::to_string(serial++) + ".part";
    descriptor = ::openat(descriptor_, partial.c_str(), kFlags, kFileRights);
    if (descriptor < 0 && errno != EEXIST) return false;
  }
  Descriptor file(descriptor);
  if (descriptor < 0) return false;
  bool done = true;
  for (const std::span<const std::byte> part : parts) done = done && write_whole(file.number(), part);
  done = file.close() && done && ::renameat(descriptor_, partial.c_str(), descriptor_, name.c_str()) == 0;
  if (!done) remove(partial);
  return done;
}

bool PrivateFolder::lock(const std::string& name, double most_seconds) {
  // A file of its own: the one that it guards is replaced by each writer.
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  constexpr auto kBetweenTries = std::chrono::milliseconds(5);
  Descriptor file(::openat(descriptor_, name.c_str(), kFlags, kFileRights));
  struct stat facts = {};
  if (file.number() < 0 || ::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const auto start = std::chrono::steady_clock::now();
  while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > most_seconds) return false;
    std::this_thread::sleep_for(kBetweenTries);
  }
  lock_ = file.release();
  return true;
}

void PrivateFolder::remove(const std::string& name) const noexcept {
  static_cast<void>(::unlinkat(descriptor_, name.c_str(), 0));
}

}  // namespace tessera::detail
