// Tables as text: a row on each line, its numbers apart by blanks or commas. Lines without numbers are passed over.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/classify/table_file.h"
#include "tools/input/byte_source.h"

namespace tessera::tool {

class TextTable : public TableFile {
 public:
  /// Reads the first row.
  explicit TextTable(std::unique_ptr<ByteSource> source);

  [[nodiscard]] std::string_view format() const noexcept override { return "text"; }
  [[nodiscard]] DataType type() const noexcept override { return DataType::float64; }
  [[nodiscard]] std::optional<std::int64_t> rows() const noexcept override { return std::nullopt; }
  [[nodiscard]] std::int64_t columns() const noexcept override { return columns_; }
  std::int64_t read_rows(std::int64_t most, Numbers& numbers) override;
  [[nodiscard]] const std::string& name() const noexcept override { return source_->name(); }

 private:
  void read_line();
  void add_number();
  [[nodiscard]] bool next(char& letter);
  template <class T>
  void append_row(std::vector<T>& elements) const;
  [[noreturn]] void refuse_number(const std::string& why) const;

  std::unique_ptr<ByteSource> source_;
  std::vector<std::uint8_t> piece_;
  std::size_t place_ = 0;
  std::vector<double> row_;  ///< the next one; empty at the end
  std::string word_;
  std::int64_t line_ = 0;  ///< of row_, counted from 1
  std::int64_t first_line_ = 0;
  std::int64_t columns_ = 0;
};

}  // namespace tessera::tool
