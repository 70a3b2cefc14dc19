// Tables whose numbers are stored in binary behind a head, and the two heads that are read: IDX's and NPY's.
#pragma once

#include <memory>
#include <string>

#include "tools/classify/table_file.h"
#include "tools/input/byte_source.h"

namespace tessera::tool {

/// What a head promises.
struct BinaryHead {
  std::string_view format;
  DataType type = DataType::uint8;
  bool high_byte_first = false;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
};

/// The lengths of a head as rows and columns: the first is the rows, the product of the others the columns. Refuses
/// more columns than kMostColumns, and more bytes than 64 bits count.
void set_lengths(BinaryHead& head, const std::vector<std::uint64_t>& lengths, const ByteSource& source);

/// MNIST's format: two bytes of 0, the type, the number of lengths, the lengths.
[[nodiscard]] BinaryHead read_idx_head(ByteSource& source);
/// numpy.save's format, with rows before columns.
[[nodiscard]] BinaryHead read_npy_table_head(ByteSource& source);

class BinaryTable : public TableFile {
 public:
  /// `source` stands behind the head. Refuses a plain file whose size is not what the head promises.
  BinaryTable(std::unique_ptr<ByteSource> source, const BinaryHead& head);

  [[nodiscard]] std::string_view format() const noexcept override { return head_.format; }
  [[nodiscard]] DataType type() const noexcept override { return head_.type; }
  [[nodiscard]] std::optional<std::int64_t> rows() const noexcept override { return head_.rows; }
  [[nodiscard]] std::int64_t columns() const noexcept override { return head_.columns; }
  std::int64_t read_rows(std::int64_t most, Numbers& numbers) override;
  [[nodiscard]] const std::string& name() const noexcept override { return source_->name(); }

 private:
  template <class T>
  void read_elements(std::int64_t count, std::vector<T>& elements);
  template <class Stored, class T>
  void convert(std::span<const std::uint8_t> bytes, std::vector<T>& elements);
  [[nodiscard]] std::uint64_t promised_bytes() const;

  std::unique_ptr<ByteSource> source_;
  BinaryHead head_;
  std::uint64_t head_bytes_ = 0;
  std::int64_t rows_read_ = 0;
  std::vector<std::uint8_t> piece_;
};

}  // namespace tessera::tool
