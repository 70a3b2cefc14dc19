// Looking ahead, and unpacking where a file begins as gzip does.
#include "tools/input/byte_source.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

ByteSource::ByteSource(const std::string& path, const std::string& what)
    : ByteSource(std::make_unique<InputFile>(path, what)) {}

ByteSource::ByteSource(std::unique_ptr<InputFile> file) : file_(std::move(file)) {
  const std::span<const std::uint8_t> first = look_ahead(2);
  if (first.size() < 2 || first[0] != 0x1f || first[1] != 0x8b) return;
  packed_ = std::make_unique<Gunzip>(*file_, first);
  seen_.clear();
}

std::size_t ByteSource::read_further(std::uint8_t* target, std::size_t size) {
  const std::size_t count = packed_ ? packed_->read(target, size) : file_->read(target, size);
  stop_if_interrupted();
  if (count < size && file_->error() != 0) {
    refuse(fmt::format("cannot be read: {}", std::strerror(file_->error())));
  }
  return count;
}

std::span<const std::uint8_t> ByteSource::look_ahead(std::size_t size) {
  size = std::min(size, kMostSeen);
  if (const std::size_t before = seen_.size(); before < size) {
    seen_.resize(size);
    seen_.resize(before + read_further(seen_.data() + before, size - before));
  }
  return {seen_.data(), std::min(size, seen_.size())};
}

std::size_t ByteSource::read(std::uint8_t* target, std::size_t size) {
  const std::size_t seen = std::min(size, seen_.size());
  std::copy_n(seen_.begin(), seen, target);
  seen_.erase(seen_.begin(), seen_.begin() + static_cast<std::ptrdiff_t>(seen));
  const std::size_t count = seen + (seen < size ? read_further(target + seen, size - seen) : 0);
  position_ += count;
  return count;
}

void ByteSource::unpack_rest() {
  if (packed_) refuse("is packed with gzip, and says that what it unpacks to is packed again");
  packed_ = std::make_unique<Gunzip>(*file_, seen_, position_);
  seen_.clear();
  position_ = 0;
}

std::optional<std::uint64_t> ByteSource::size_bytes() const noexcept {
  return packed_ ? std::nullopt : file_->size_bytes();
}

std::string ByteSource::place(std::uint64_t position) const {
  return fmt::format("byte {}{}", position, packed_ ? " of what it unpacks to" : "");
}

void ByteSource::refuse(const std::string& why) const {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", name(), why));
}

}  // namespace tessera::tool
