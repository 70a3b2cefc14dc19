// Lines to classes of shape and back.
#include "tuning_table.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "backend/sentence.h"

namespace tessera::detail {
namespace {

constexpr std::size_t kMostComplaints = 20;
/// Of one line: what the tool writes has some thousand.
constexpr std::size_t kMostBytesOfLine = std::size_t{64} << 10;

/// Calls `take(number, line)` for every line that is not blank, counted from 1.
template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) take(number, line);
  }
}

ReadLine read_bounded_line(std::string_view line) {
  if (line.size() > kMostBytesOfLine) return backend::sentence("it is longer than ", kMostBytesOfLine, " bytes");
  return read_tuning_line(line);
}

bool is_choice(const TuningLine& line) {
  return line.record.verdict == TuningVerdict::faster || line.record.verdict == TuningVerdict::not_faster;
}

}  // namespace

TuningTable::TuningTable(std::string_view file) {
  for_each_line(file, [&](std::size_t number, std::string_view text) {
    ReadLine read = read_bounded_line(text);
    if (const auto* const why = std::get_if<std::string>(&read)) return complain(number, "is damaged: " + *why);
    auto* const line = std::get_if<TuningLine>(&read);
    if (line == nullptr) return complain(number, "is in the format of another version");
    ++entries_;
    TunedClass& tuned = classes_[line->key];
    if (is_choice(*line)) {
      tuned.choice = std::move(*line);
    } else {
      tuned.rejected.push_back(std::move(*line));
    }
  });
}

void TuningTable::complain(std::size_t line, std::string_view why) {
  if (complaints_.size() == kMostComplaints) {
    ++complaints_left_out_;
    return;
  }
  complaints_.push_back(backend::sentence("line ", line, " ", why));
}

std::vector<std::string> TuningTable::complaints() const {
  std::vector<std::string> all = complaints_;
  if (complaints_left_out_ > 0)
    all.push_back(backend::sentence(complaints_left_out_, " more lines are not used either"));
  return all;
}

const TunedClass* TuningTable::find(const TuningKey& key) const {
  const auto found = classes_.find(key);
  return found == classes_.end() ? nullptr : &found->second;
}

std::string with_class_replaced(std::string_view file, const TuningKey& key, const std::vector<TuningLine>& lines,
                                std::size_t most, std::size_t most_bytes) {
  std::deque<std::string> kept;
  for_each_line(file, [&](std::size_t, std::string_view text) {
    const ReadLine read = read_bounded_line(text);
    if (std::holds_alternative<std::string>(read)) return;
    const auto* const line = std::get_if<TuningLine>(&read);
    if (line == nullptr || line->key != key) kept.emplace_back(text);
  });
  for (const TuningLine& line : lines) kept.push_back(text_of(line));
  std::size_t bytes = 0;
  for (const std::string& line : kept) bytes += line.size() + 1;
  while (!kept.empty() && (kept.size() > most || bytes > most_bytes)) {
    bytes -= kept.front().size() + 1;
    kept.pop_front();
  }
  std::string text;
  for (const std::string& line : kept) text += line + "\n";
  return text;
}

}  // namespace tessera::detail
