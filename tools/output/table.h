// A table of text for the terminal, and numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::tool {

enum class Align : std::uint8_t { left, right };

/// Columns are as wide as their widest cell; the last column is not padded.
class Table {
 public:
  struct Column {
    std::string header;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Cells that are missing are empty; more cells than columns are an error of the program.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// Header, rule and rows, each line ended; lines have no trailing blanks.
  [[nodiscard]] std::string render() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "12.3 us", "4.56 ms", "7.89 s".
[[nodiscard]] std::string format_seconds(double seconds);
/// "139.8 GiB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);
/// Four significant digits, without an exponent from 0.001 to 10 million: "50800", "3.142".
[[nodiscard]] std::string format_number(double value);

}  // namespace tessera::tool
