// Buffered reading from a descriptor.
#include "tools/input/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {
constexpr std::size_t kReadBytes = std::size_t{1} << 16;
}  // namespace

InputFile::InputFile(const std::string& path, const std::string& what)
    : name_(path == "-" ? what + " on standard input" : fmt::format("{} '{}'", what, path)), buffer_(kReadBytes) {
  // O_NONBLOCK: a FIFO that nobody writes would hold open() up, signals or not; refill() waits for it.
  descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} cannot be read: {}", name_, std::strerror(errno)));
  }
  if (path != "-") static_cast<void>(::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK));
  struct stat facts = {};
  if (::fstat(descriptor_, &facts) != 0) return;
  if (S_ISDIR(facts.st_mode)) {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
    throw Error(ErrorCode::invalid_argument, name_ + " is a folder");
  }
  // What standard input was redirected from may stand somewhere in its middle.
  if (S_ISREG(facts.st_mode) && path != "-") size_bytes_ = static_cast<std::uint64_t>(facts.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::size_t InputFile::read(std::uint8_t* target, std::size_t size) noexcept {
  std::size_t done = 0;
  while (done < size) {
    if (position_ == end_ && refill() == 0) break;
    const std::size_t piece = std::min(size - done, end_ - position_);
    std::memcpy(target + done, buffer_.data() + position_, piece);
    position_ += piece;
    done += piece;
  }
  return done;
}

std::span<const std::uint8_t> InputFile::look_ahead(std::size_t size) noexcept {
  size = std::min(size, kMostSeen);
  if (end_ - position_ < size) {
    std::memmove(buffer_.data(), buffer_.data() + position_, end_ - position_);
    end_ -= std::exchange(position_, 0);
    std::size_t count = 1;
    while (end_ < size && count > 0) end_ += count = read_some(buffer_.data() + end_, buffer_.size() - end_);
  }
  return {buffer_.data() + position_, std::min(size, end_ - position_)};
}

std::size_t InputFile::read_at(std::uint64_t place, std::uint8_t* target, std::size_t size) noexcept {
  std::size_t done = 0;
  while (done < size && !is_interrupted()) {
    const ssize_t count = ::pread(descriptor_, target + done, size - done, static_cast<off_t>(place + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error_ = errno;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::size_t InputFile::refill() noexcept {
  position_ = 0;
  end_ = read_some(buffer_.data(), buffer_.size());
  return end_;
}

/// One read, as soon as there is something to be read; 0 at the end, at an error and after Ctrl-C.
std::size_t InputFile::read_some(std::uint8_t* target, std::size_t size) noexcept {
  // A signal restarts read(), but not poll().
  pollfd ready{descriptor_, POLLIN, 0};
  while (!is_interrupted() && ::poll(&ready, 1, kLookForInterruptMs) <= 0) {
  }
  if (is_interrupted()) return 0;
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, target, size);
  } while (count < 0 && errno == EINTR);
  if (count < 0) error_ = errno;
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace tessera::tool
