// Finding out what stands at the path, the temporary file beside it, and buffered writing.
#include "tools/output/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 16;
constexpr mode_t kRights = 0666;  // less what the user's mask takes away
constexpr int kMostNames = 100;

bool is_link(const std::string& path) {
  struct stat facts = {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

bool is_fifo(const std::string& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode);
}

/// Opens for writing what is there, links followed by the system, which refuses those that others planted in /tmp.
/// Without O_NONBLOCK a FIFO that nobody reads would hold the program up, signals or not.
int open_existing(const std::string& path) {
  int descriptor = -1;
  while ((descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0) {
    if (errno != ENXIO || !is_fifo(path)) return -1;
    stop_if_interrupted();
    static_cast<void>(::poll(nullptr, 0, kLookForInterruptMs / 10));
  }
  static_cast<void>(::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK));
  return descriptor;
}

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// The path of the open file without links; "" if it has none any more.
std::string real_path(const std::string& path, const struct stat& opened) {
  std::error_code failure;
  const std::string real = std::filesystem::canonical(path, failure).string();
  struct stat facts = {};
  const bool is_it =
      !failure && ::lstat(real.c_str(), &facts) == 0 && facts.st_dev == opened.st_dev && facts.st_ino == opened.st_ino;
  return is_it ? real : "";
}

}  // namespace

OutputFile::OutputFile(const std::string& path, const std::string& what)
    : name_(path == "-" ? what + " on standard output" : fmt::format("{} '{}'", what, path)) {
  buffer_.reserve(kWriteBytes);
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    is_stream_ = true;
  } else {
    open(path);
  }
  if (descriptor_ < 0) {
    error_ = errno;
    fail();
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
  if (!created_.empty()) ::unlink(created_.c_str());
}

void OutputFile::open(const std::string& path) {
  descriptor_ = open_existing(path);
  if (descriptor_ >= 0) return choose_way(path);
  if (errno != ENOENT) return;
  if (!is_link(path)) return open_beside(path);
  // A link to what is not there yet: it is made, empty, so that the link has a target to be replaced.
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, kRights);
  if (descriptor_ < 0) return;
  choose_way(path);
  if (descriptor_ >= 0) created_ = target_;
}

/// What was opened is written itself if it is no regular file, and otherwise replaced by a temporary file beside it.
void OutputFile::choose_way(const std::string& path) {
  struct stat facts = {};
  struct stat output = {};
  if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    is_stream_ = true;
    return;
  }
  // /dev/stdout, which is to stand behind what was written there before.
  if (::fstat(STDOUT_FILENO, &output) == 0 && is_same(facts, output)) {
    ::close(std::exchange(descriptor_, STDOUT_FILENO));
    is_stream_ = true;
    return;
  }
  const std::string real = real_path(path, facts);
  if (real.empty()) {  // it has no name, as what /dev/fd leads to may have none
    if (::ftruncate(descriptor_, 0) != 0) ::close(std::exchange(descriptor_, -1));
    return;
  }
  ::close(std::exchange(descriptor_, -1));
  open_beside(real);
  if (descriptor_ >= 0) static_cast<void>(::fchmod(descriptor_, facts.st_mode & 0777U));
}

void OutputFile::open_beside(const std::string& target) {
  target_ = target;
  // An interrupted machine may have left one under the same process number.
  for (int attempt = 0; descriptor_ < 0 && attempt < kMostNames; ++attempt) {
    partial_ = fmt::format("{}.{}.{}.partial", target, ::getpid(), attempt);
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kRights);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) partial_.clear();
}

bool OutputFile::write(const std::uint8_t* bytes, std::size_t size) noexcept {
  while (size > 0) {
    if (buffer_.size() == kWriteBytes && !flush()) return false;
    const std::size_t piece = std::min(size, kWriteBytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes, bytes + piece);
    bytes += piece;
    size -= piece;
  }
  return true;
}

bool OutputFile::flush() noexcept {
  // A pipe that poll() calls writable takes this much at once; more would wait, and no signal would end that.
  const std::size_t most = is_stream_ ? PIPE_BUF : kWriteBytes;
  std::size_t done = 0;
  while (done < buffer_.size()) {
    if (is_stream_ && !wait_until_writable()) return false;
    const ssize_t count = ::write(descriptor_, buffer_.data() + done, std::min(most, buffer_.size() - done));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) {
      error_ = errno;
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  buffer_.clear();
  return true;
}

/// A program that was asked to end still writes what there is, as long as it is taken.
bool OutputFile::wait_until_writable() noexcept {
  pollfd ready{descriptor_, POLLOUT, 0};
  int count = 0;
  while ((count = ::poll(&ready, 1, kLookForInterruptMs)) == 0 || (count < 0 && errno == EINTR)) {
    if (count == 0 && is_interrupted()) {
      error_ = EINTR;
      return false;
    }
  }
  return true;
}

void OutputFile::commit() {
  if (error_ != 0 || !flush()) fail();
  if (descriptor_ > STDERR_FILENO) {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) error_ = errno;
  }
  if (error_ == 0 && !partial_.empty() && std::rename(partial_.c_str(), target_.c_str()) != 0) error_ = errno;
  if (error_ != 0) fail();
  partial_.clear();
  created_.clear();
}

void OutputFile::fail() const {
  if (error_ == EINTR) stop_if_interrupted();
  throw Error(ErrorCode::invalid_argument, fmt::format("{} cannot be written: {}", name_,
                                                       error_ == EISDIR ? "it is a folder" : std::strerror(error_)));
}

}  // namespace tessera::tool
