// The bytes of a file, of a pipe, or of what is packed in it with gzip, from the first to the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/gzip/gunzip.h"
#include "tools/input/input_file.h"

namespace tessera::tool {

class ByteSource {
 public:
  static constexpr std::size_t kMostSeen = 64;

  /// Errors as InputFile's. A file that begins as gzip does is unpacked.
  ByteSource(const std::string& path, const std::string& what);
  /// The same from a file of which nothing was read.
  explicit ByteSource(std::unique_ptr<InputFile> file);

  /// The next bytes, which stay there: at most kMostSeen, fewer only at the end.
  [[nodiscard]] std::span<const std::uint8_t> look_ahead(std::size_t size);
  /// How many of the next `size` bytes were read: fewer only at the end. Throws Interrupted after Ctrl-C, Error for
  /// what cannot be read or unpacked.
  [[nodiscard]] std::size_t read(std::uint8_t* target, std::size_t size);
  /// The rest of the file is packed with gzip, as it is behind the head of some formats: from here on what it unpacks
  /// to is read, and positions are counted anew. Refuses a file that is packed as a whole.
  void unpack_rest();
  /// As a whole, or its rest.
  [[nodiscard]] bool is_packed() const noexcept { return packed_ != nullptr; }
  /// How many bytes were read.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// How many there are, where that is known beforehand: of a regular file that is not packed.
  [[nodiscard]] std::optional<std::uint64_t> size_bytes() const noexcept;
  /// "the file of training images 'x.gz'", for messages.
  [[nodiscard]] const std::string& name() const noexcept { return file_->name(); }
  /// "byte 17", or "byte 17 of what it unpacks to".
  [[nodiscard]] std::string place(std::uint64_t position) const;
  /// Throws Error invalid_argument: the name and what is wrong.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  [[nodiscard]] std::size_t read_further(std::uint8_t* target, std::size_t size);

  std::unique_ptr<InputFile> file_;
  std::unique_ptr<Gunzip> packed_;
  std::vector<std::uint8_t> seen_;  ///< by look_ahead(), not read yet
  std::uint64_t position_ = 0;
};

}  // namespace tessera::tool
