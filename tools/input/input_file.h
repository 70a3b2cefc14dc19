// Reading a file or standard input piece by piece. Never throws while it reads, because C libraries call it; can be
// interrupted while it waits for a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::tool {

class InputFile {
 public:
  static constexpr std::size_t kMostSeen = 1024;

  /// `what` names it in messages: "the image". "-" is standard input. Error invalid_argument for a folder or a file
  /// that does not open.
  InputFile(const std::string& path, const std::string& what);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// How many of the next `size` bytes were read: fewer only at the end, at an error or after Ctrl-C.
  [[nodiscard]] std::size_t read(std::uint8_t* target, std::size_t size) noexcept;
  /// The next bytes, which stay there: at most kMostSeen, fewer only at the end, at an error or after Ctrl-C.
  [[nodiscard]] std::span<const std::uint8_t> look_ahead(std::size_t size) noexcept;
  /// As read(), from any place of a regular file, and without moving on. For files that are read out of order.
  [[nodiscard]] std::size_t read_at(std::uint64_t place, std::uint8_t* target, std::size_t size) noexcept;
  /// How many bytes a regular file has; nothing for what is none, as a pipe.
  [[nodiscard]] std::optional<std::uint64_t> size_bytes() const noexcept { return size_bytes_; }
  /// The errno that ended reading, or 0.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// "the image 'in.png'", for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  [[nodiscard]] std::size_t refill() noexcept;
  [[nodiscard]] std::size_t read_some(std::uint8_t* target, std::size_t size) noexcept;

  std::string name_;
  int descriptor_ = -1;
  int error_ = 0;
  std::optional<std::uint64_t> size_bytes_;
  std::vector<std::uint8_t> buffer_;
  std::size_t position_ = 0;
  std::size_t end_ = 0;
};

}  // namespace tessera::tool
