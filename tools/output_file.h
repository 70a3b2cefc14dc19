// Writing a file so that it is there whole or not at all: bytes go to a temporary file beside it, which takes its name
// at the end. Never throws while it writes, because C libraries call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::tool {

class OutputFile {
 public:
  /// "-" is standard output; that, a pipe or a device is written straight away. A file that is there is replaced, and
  /// keeps its rights; where it is a link, what it leads to is. Error invalid_argument if it cannot be written.
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Leaves nothing behind, unless commit() was called.
  ~OutputFile();

  /// False at an error, which commit() would tell, too.
  [[nodiscard]] bool write(const std::uint8_t* bytes, std::size_t size) noexcept;
  /// Writes what is left and gives the file its name. Error invalid_argument if that fails.
  void commit();
  /// Throws what went wrong.
  [[noreturn]] void fail() const;
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  void open_beside(const std::string& target);
  [[nodiscard]] bool flush() noexcept;

  std::string name_;     ///< "the image 'out.png'", for messages
  std::string target_;   ///< "" where there is no temporary file
  std::string partial_;  ///< "" once it has its name
  int descriptor_ = -1;
  int error_ = 0;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace tessera::tool
