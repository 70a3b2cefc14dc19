// Lines and numbers, from pieces of the file that end anywhere.
#include "tools/classify/text_table.h"

#include <charconv>

#include <fmt/format.h>

#include "tools/input/shown_text.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kTextPieceBytes = std::size_t{1} << 16;
constexpr std::size_t kMostLetters = 60;  // of a number; the longest that float64 needs has 24

}  // namespace

TextTable::TextTable(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
  read_line();
  first_line_ = line_;
  columns_ = static_cast<std::int64_t>(row_.size());
}

bool TextTable::next(char& letter) {
  if (place_ == piece_.size()) {
    piece_.resize(kTextPieceBytes);
    piece_.resize(source_->read(piece_.data(), piece_.size()));
    place_ = 0;
    if (piece_.empty()) return false;
  }
  letter = static_cast<char>(piece_[place_++]);
  return true;
}

void TextTable::refuse_number(const std::string& why) const {
  source_->refuse(fmt::format("holds '{}' as number {} of line {}, {}", shown_text(word_, kMostLetters),
                              row_.size() + 1, line_, why));
}

/// The word becomes a number of the row, if there is a word.
void TextTable::add_number() {
  if (word_.empty()) return;
  double number = 0;
  const char* const begin = word_.data() + (word_[0] == '+' ? 1 : 0);
  const char* const end = word_.data() + word_.size();
  const auto parsed = std::from_chars(begin, end, number);
  if (parsed.ec == std::errc::result_out_of_range) refuse_number("which float64 does not hold");
  if (parsed.ec != std::errc() || parsed.ptr != end) refuse_number("which is no number");
  if (!fits<double>(number)) refuse_number(std::string(what_fits<double>()));
  if (static_cast<std::int64_t>(row_.size()) == kMostColumns) {
    source_->refuse(fmt::format("holds more than {} numbers in line {}", kMostColumns, line_));
  }
  row_.push_back(number);
  word_.clear();
}

/// The next line with numbers; without one, the row stays empty.
void TextTable::read_line() {
  row_.clear();
  bool is_over = false;
  while (!is_over && row_.empty()) {
    ++line_;
    bool after_comma = true;  // a comma must stand behind a number
    for (char letter = 0;;) {
      is_over = !next(letter);
      if (is_over || letter == '\n' || letter == ',' || letter == ' ' || letter == '\t' || letter == '\r') {
        after_comma = after_comma && word_.empty();
        add_number();
        if (is_over || letter == '\n') break;
        if (letter != ',') continue;
        if (after_comma) refuse_number("where a number must stand before the comma");
        after_comma = true;
      } else {
        word_ += letter;
        if (word_.size() > kMostLetters) refuse_number("which is no number");
      }
    }
  }
}

template <class T>
void TextTable::append_row(std::vector<T>& elements) const {
  for (std::size_t i = 0; i < row_.size(); ++i) {
    if (!fits<T>(row_[i])) {
      source_->refuse(fmt::format("holds {} as number {} of line {}, {}", row_[i], i + 1, line_, what_fits<T>()));
    }
    elements.push_back(static_cast<T>(row_[i]));
  }
}

std::int64_t TextTable::read_rows(std::int64_t most, Numbers& numbers) {
  std::int64_t count = 0;
  for (; count < most && !row_.empty(); ++count) {
    if (static_cast<std::int64_t>(row_.size()) != columns_) {
      source_->refuse(
          fmt::format("has {} numbers in line {}, but {} in line {}", row_.size(), line_, columns_, first_line_));
    }
    std::visit([&](auto& elements) { append_row(elements); }, numbers);
    read_line();
  }
  return count;
}

}  // namespace tessera::tool
