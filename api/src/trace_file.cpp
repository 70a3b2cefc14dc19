// Writes elements, and behind them the list's end, over which the next ones are written.
#include "trace_file.h"

#include <tessera/error.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "backend/sentence.h"
#include "printable.h"

namespace tessera::detail {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{64} << 10;
constexpr std::chrono::milliseconds kLongestWait{100};
constexpr std::string_view kListBegin = "[\n";
constexpr std::string_view kListEnd = "\n]\n";

[[noreturn]] void refuse_trace(const std::string& name, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, backend::sentence("the trace ", name, " cannot be written: ", why));
}

/// 0, or the error of the system.
int write_all(int descriptor, std::string_view text, std::int64_t offset) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
  return 0;
}

}  // namespace

TraceFile::TraceFile(const std::filesystem::path& path)
    : name_("'" + printable(path.string()) + "'"), written_(std::chrono::steady_clock::now()) {
  // Emptied only once it is known that nobody else writes to it. A FIFO's reader is not waited for.
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (descriptor_ < 0) give_up(errno);
  struct stat facts = {};
  if (::fstat(descriptor_, &facts) != 0) give_up(errno);
  if (!S_ISREG(facts.st_mode)) {
    ::close(descriptor_);
    refuse_trace(name_, "it is no regular file");
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    refuse_trace(name_, "another process is writing one to it; with %p in its name $TESSERA_TRACE keeps them apart");
  }
  if (::ftruncate(descriptor_, 0) != 0) give_up(errno);
  waiting_ = kListBegin;
  write_out();
  if (failure_ != 0) give_up(failure_);
}

TraceFile::~TraceFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TraceFile::give_up(int code) {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  refuse_trace(name_, std::strerror(code));
}

void TraceFile::write_out() noexcept {
  written_ = std::chrono::steady_clock::now();
  if (waiting_.empty() || failure_ != 0 || descriptor_ < 0) return;
  const std::size_t size = waiting_.size();
  try {
    waiting_ += kListEnd;
  } catch (const std::bad_alloc&) {
    return;  // later
  }
  failure_ = write_all(descriptor_, waiting_, offset_);
  if (failure_ == 0) {
    offset_ += static_cast<std::int64_t>(size);
  } else if (::ftruncate(descriptor_, offset_) == 0) {
    // The disk is full or the like. What was there before is to stay a list; for its end there was room.
    static_cast<void>(write_all(descriptor_, kListEnd, offset_));
  }
  waiting_.clear();
}

void TraceFile::add(std::string_view element) noexcept {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0 || failure_ != 0) return;
  const std::size_t before = waiting_.size();
  try {
    if (!is_first_) waiting_ += ",\n";
    waiting_ += element;
    is_first_ = false;
  } catch (const std::bad_alloc&) {
    waiting_.resize(before);  // an element less, and the list stays one
  }
  if (waiting_.size() > kMostWaiting || std::chrono::steady_clock::now() - written_ > kLongestWait) write_out();
}

void TraceFile::flush() noexcept {
  const std::lock_guard lock(mutex_);
  write_out();
}

void TraceFile::close() {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0) return;
  write_out();
  // A child process of fork() may hold the same lock by the descriptor that it has inherited.
  static_cast<void>(::flock(descriptor_, LOCK_UN));
  // A file system over a network may tell only now.
  if (::close(std::exchange(descriptor_, -1)) != 0 && failure_ == 0) failure_ = errno;
  if (failure_ != 0) give_up(failure_);
}

}  // namespace tessera::detail
