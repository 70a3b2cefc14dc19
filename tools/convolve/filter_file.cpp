// Reading a filter from a text file, with the number of the line in every complaint.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <tessera/tessera.h>

#include "tools/convolve/image_filter.h"

namespace tessera::tool {

namespace {

/// The largest filter with its comments is far smaller.
constexpr std::size_t kLargestFileBytes = std::size_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r\v\f,";

Error refusal(const std::string& text) {
  return {ErrorCode::invalid_argument, text};
}

/// A word of a file that may hold anything, fit for one line on a terminal.
std::string quoted(std::string_view word) {
  constexpr std::size_t kLongest = 24;
  std::string text(word.substr(0, kLongest));
  for (char& letter : text) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return fmt::format("'{}{}'", text, word.size() > kLongest ? "..." : "");
}

double parse_weight(std::string_view word, const std::string& place) {
  double weight = 0;
  const std::string_view digits = word.substr(word.starts_with('+') && word.size() > 1 && word[1] != '-' ? 1 : 0);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
  if (parsed.ptr != digits.data() + digits.size() || parsed.ec == std::errc::invalid_argument) {
    throw refusal(fmt::format("{}: {} is no number", place, quoted(word)));
  }
  if (parsed.ec == std::errc::result_out_of_range && digits.find("e-") == std::string_view::npos &&
      digits.find("E-") == std::string_view::npos) {
    weight = INFINITY;
  }
  if (!(std::fabs(weight) <= kLargestWeight)) {
    throw refusal(fmt::format("{}: the weight is {}, but must lie between -{:.0f} and {:.0f}", place, quoted(word),
                              kLargestWeight, kLargestWeight));
  }
  return weight;
}

/// The numbers of one line; none if it is empty or a comment.
std::vector<double> parse_row(std::string_view line, const std::string& place) {
  line = line.substr(0, line.find('#'));
  std::vector<double> row;
  for (std::size_t at = line.find_first_not_of(kBlanks); at < line.size(); at = line.find_first_not_of(kBlanks, at)) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    if (row.size() == static_cast<std::size_t>(Conv2d::kLargestFilter)) {
      throw refusal(fmt::format("{}: the row has more than {} weights", place, Conv2d::kLargestFilter));
    }
    row.push_back(parse_weight(line.substr(at, end - at), place));
    at = end;
  }
  return row;
}

}  // namespace

ImageFilter parse_filter(std::string_view text, const std::string& name) {
  ImageFilter filter;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string place = fmt::format("{}, line {}", name, number);
    const std::vector<double> row = parse_row(text.substr(0, end), place);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty()) continue;
    if (filter.height == 0) filter.width = static_cast<std::int64_t>(row.size());
    if (static_cast<std::int64_t>(row.size()) != filter.width) {
      throw refusal(
          fmt::format("{}: the row has {} weights, but the first row has {}", place, row.size(), filter.width));
    }
    if (++filter.height > Conv2d::kLargestFilter) {
      throw refusal(fmt::format("{}: the filter has more than {} rows", place, Conv2d::kLargestFilter));
    }
    filter.weights.insert(filter.weights.end(), row.begin(), row.end());
  }
  if (filter.height == 0) throw refusal(fmt::format("{} holds no weights", name));
  return filter;
}

ImageFilter read_filter_file(const std::string& path) {
  const std::string name = fmt::format("the filter file '{}'", path);
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) throw refusal(name + " is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestFileBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) throw refusal(fmt::format("{} cannot be read: {}", name, std::strerror(errno)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFileBytes) {
    throw refusal(fmt::format("{} is too large, it must have at most {} bytes", name, kLargestFileBytes));
  }
  return parse_filter(text, name);
}

}  // namespace tessera::tool
