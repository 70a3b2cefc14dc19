// Writing a file so that it is there whole or not at all: bytes go to a temporary file beside it, which takes its name
// at the end. What is no regular file (a pipe, a device) is written straight away and stays what it is. Never throws
// while it writes, because C libraries call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::tool {

class OutputFile {
 public:
  /// `what` names it in messages: "the image". "-" is standard output. A file that is there is replaced, and keeps its
  /// rights; where `path` is a link, what it leads to is, and the link stays. Waits for the reader of a FIFO. Error
  /// invalid_argument if it cannot be written; Interrupted while it waits.
  OutputFile(const std::string& path, const std::string& what);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Leaves nothing behind, unless commit() was called.
  ~OutputFile();

  /// False at an error, which commit() would tell, too. A reader that takes nothing any more holds it up only until
  /// a signal asks the program to end.
  [[nodiscard]] bool write(const std::uint8_t* bytes, std::size_t size) noexcept;
  /// Writes what is left and gives the file its name. Error invalid_argument if that fails.
  void commit();
  /// Throws what went wrong.
  [[noreturn]] void fail() const;
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  void open(const std::string& path);
  void choose_way(const std::string& path);
  void open_beside(const std::string& target);
  [[nodiscard]] bool flush() noexcept;
  [[nodiscard]] bool wait_until_writable() noexcept;

  std::string name_;     ///< "the image 'out.png'", for messages
  std::string target_;   ///< "" where there is no temporary file
  std::string partial_;  ///< "" once it has its name
  std::string created_;  ///< what a link led to that was not there, made empty; "" once it is whole
  bool is_stream_ = false;
  int descriptor_ = -1;
  int error_ = 0;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace tessera::tool
