// Reading a file of numbers to its end, or the sentence with which that is refused.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include <tessera/error.h>

#include "tools/classify/table_file.h"

namespace tessera::testing_support {

/// A file in memory: hostile ones come in thousands.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : file_(::memfd_create("table", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(file_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

struct TableRead {
  std::string format;
  std::int64_t columns = 0;
  std::vector<double> numbers;
  std::string refusal;  ///< behind "the rows '...' "; "" if nothing was refused
};

/// Numbers are compared in `type`, and read in pieces of `rows_at_once`.
inline TableRead read_table(const std::string& bytes, DataType type = DataType::float64, int rows_at_once = 2) {
  const MemoryFile file(bytes);
  TableRead read;
  try {
    const auto table = tool::open_table(file.path(), "the rows");
    read.format = table->format();
    read.columns = table->columns();
    tool::Numbers numbers = tool::no_numbers(type);
    while (table->read_rows(rows_at_once, numbers) != 0) {
    }
    std::visit([&](const auto& found) { read.numbers.assign(found.begin(), found.end()); }, numbers);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    const std::string start = "the rows '" + file.path() + "' ";
    EXPECT_EQ(error.sentence().rfind(start, 0), 0U) << error.sentence();
    EXPECT_EQ(error.sentence().find('\n'), std::string::npos) << error.sentence();
    read.refusal = error.sentence().substr(std::min(start.size(), error.sentence().size()));
  }
  return read;
}

}  // namespace tessera::testing_support
