// Rendering of tables and of numbers.
#include "tools/output/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

/// Characters, not bytes: device names may hold UTF-8.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

void append_padded(std::string& line, const std::string& cell, std::size_t width, Align align) {
  const std::string padding(width - width_of(cell), ' ');
  line += align == Align::right ? padding + cell : cell + padding;
}

void append_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line;
  text += '\n';
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) throw std::logic_error("a row of a table has more cells than the table columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::render() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].header);
    for (const auto& row : rows_) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  std::string text;
  std::string header;
  std::string rule;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) header += "  ", rule += "  ";
    append_padded(header, columns_[i].header, widths[i], columns_[i].align);
    rule += std::string(widths[i], '-');
  }
  append_line(text, header);
  append_line(text, rule);
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += "  ";
      append_padded(line, row[i], widths[i], columns_[i].align);
    }
    append_line(text, line);
  }
  return text;
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1.0) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) value /= 1024, ++unit;
  if (value == std::floor(value)) return fmt::format("{:.0f} {}", value, kUnits[unit]);
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string format_number(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e7) return fmt::format("{:.2e}", value);
  const int decimals = std::max(0, 3 - static_cast<int>(std::floor(std::log10(size))));
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace tessera::tool
