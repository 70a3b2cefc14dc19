// The temporary file beside the target, and buffered writing.
#include "tools/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include <fmt/format.h>
#include <tessera/error.h>

namespace tessera::tool {

namespace {
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
constexpr mode_t kRights = 0666;  // less what the user's mask takes away
constexpr int kMostNames = 100;
}  // namespace

OutputFile::OutputFile(const std::string& path)
    : name_(path == "-" ? "the image on standard output" : fmt::format("the image '{}'", path)) {
  buffer_.reserve(kBufferBytes);
  struct stat facts = {};
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
  } else if (::stat(path.c_str(), &facts) != 0) {
    open_beside(path);
  } else if (S_ISDIR(facts.st_mode)) {
    throw Error(ErrorCode::invalid_argument, name_ + " cannot be written: it is a folder");
  } else if (!S_ISREG(facts.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    std::error_code unknown;
    const std::filesystem::path real = std::filesystem::canonical(path, unknown);
    if (::access(path.c_str(), W_OK) == 0) open_beside(unknown ? path : real.string());
    if (descriptor_ >= 0) (void)::fchmod(descriptor_, facts.st_mode & 0777U);
  }
  if (descriptor_ < 0) {
    error_ = errno;
    fail();
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void OutputFile::open_beside(const std::string& target) {
  target_ = target;
  // An interrupted machine may have left one under the same process number.
  for (int attempt = 0; descriptor_ < 0 && attempt < kMostNames; ++attempt) {
    partial_ = fmt::format("{}.{}.{}.partial", target, ::getpid(), attempt);
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kRights);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
}

bool OutputFile::write(const std::uint8_t* bytes, std::size_t size) noexcept {
  while (size > 0) {
    if (buffer_.size() == kBufferBytes && !flush()) return false;
    const std::size_t piece = std::min(size, kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes, bytes + piece);
    bytes += piece;
    size -= piece;
  }
  return true;
}

bool OutputFile::flush() noexcept {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t count = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      error_ = errno;
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  buffer_.clear();
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
}

void OutputFile::fail() const {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} cannot be written: {}", name_, std::strerror(error_)));
}

}  // namespace tessera::tool
