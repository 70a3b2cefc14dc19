// A file of rows of numbers, read from the first row to the last: IDX, NPY or text, each plain or packed with gzip.
// Nothing is taken on the word of a head: memory grows with what was read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tessera/types.h>

#include "tools/classify/numbers.h"

namespace tessera::tool {

/// Every fault of a file is an Error invalid_argument of one line: the file, what is wrong, and where.
class TableFile {
 public:
  /// A row may hold so many numbers.
  static constexpr std::int64_t kMostColumns = std::int64_t{1} << 24;

  TableFile() = default;
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  virtual ~TableFile() = default;

  [[nodiscard]] virtual std::string_view format() const noexcept = 0;
  /// What the numbers are stored as; float64 for text.
  [[nodiscard]] virtual DataType type() const noexcept = 0;
  /// Rows, where the head tells: what it says holds only once they were read.
  [[nodiscard]] virtual std::optional<std::int64_t> rows() const noexcept = 0;
  /// Numbers in a row; 0 in a text without rows.
  [[nodiscard]] virtual std::int64_t columns() const noexcept = 0;
  /// Appends the next rows, at most so many, and returns how many: fewer only at the end, which is checked, too.
  virtual std::int64_t read_rows(std::int64_t most, Numbers& numbers) = 0;
  /// "the file of training images 'x.gz'", for messages.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

/// Opens a file and reads its head. `what` names it in messages: "the file of training images". "-" is standard input.
[[nodiscard]] std::unique_ptr<TableFile> open_table(const std::string& path, const std::string& what);

}  // namespace tessera::tool
