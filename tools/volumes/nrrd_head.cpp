// The head of an NRRD file: lines of text up to an empty one. Read are the fields that say what numbers follow;
// spacing, directions, and whatever else stands there are carried over unread.
#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "tools/input/shown_text.h"
#include "tools/volumes/endings.h"
#include "tools/volumes/raw_volume.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kMostNrrdBytes = std::size_t{1} << 20;
constexpr std::size_t kMostNrrdAxes = 16;  // NRRD's own limit

struct NrrdType {
  std::string_view word;
  DataType type;
};
constexpr NrrdType kNrrdTypes[] = {{"signed char", DataType::int8},
                                   {"int8", DataType::int8},
                                   {"int8_t", DataType::int8},
                                   {"uchar", DataType::uint8},
                                   {"unsigned char", DataType::uint8},
                                   {"uint8", DataType::uint8},
                                   {"uint8_t", DataType::uint8},
                                   {"short", DataType::int16},
                                   {"short int", DataType::int16},
                                   {"signed short", DataType::int16},
                                   {"signed short int", DataType::int16},
                                   {"int16", DataType::int16},
                                   {"int16_t", DataType::int16},
                                   {"ushort", DataType::uint16},
                                   {"unsigned short", DataType::uint16},
                                   {"unsigned short int", DataType::uint16},
                                   {"uint16", DataType::uint16},
                                   {"uint16_t", DataType::uint16},
                                   {"int", DataType::int32},
                                   {"signed int", DataType::int32},
                                   {"int32", DataType::int32},
                                   {"int32_t", DataType::int32},
                                   {"uint", DataType::uint32},
                                   {"unsigned int", DataType::uint32},
                                   {"uint32", DataType::uint32},
                                   {"uint32_t", DataType::uint32},
                                   {"longlong", DataType::int64},
                                   {"long long", DataType::int64},
                                   {"long long int", DataType::int64},
                                   {"signed long long", DataType::int64},
                                   {"signed long long int", DataType::int64},
                                   {"int64", DataType::int64},
                                   {"int64_t", DataType::int64},
                                   {"ulonglong", DataType::uint64},
                                   {"unsigned long long", DataType::uint64},
                                   {"unsigned long long int", DataType::uint64},
                                   {"uint64", DataType::uint64},
                                   {"uint64_t", DataType::uint64},
                                   {"float", DataType::float32},
                                   {"double", DataType::float64}};

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 'a' - 'A');
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(in_small_letters(text.substr(at, end - at)));
    at = end;
  }
  return words;
}

/// The lines of a head, one after the other, and all their bytes.
class NrrdLines {
 public:
  explicit NrrdLines(ByteSource& source) : source_(source) {}

  /// Without its end, "\n" or "\r\n".
  std::string next() {
    line_begin_ = bytes_.size();
    for (std::uint8_t byte = 0; byte != '\n';) {
      if (bytes_.size() == kMostNrrdBytes) {
        source_.refuse(
            fmt::format("has no empty line, which would end its head, in its first {} bytes", kMostNrrdBytes));
      }
      if (source_.read(&byte, 1) == 0) source_.refuse(fmt::format("ends at {}, in its head", place(bytes_.size())));
      bytes_ += static_cast<char>(byte);
    }
    std::string line = bytes_.substr(line_begin_, bytes_.size() - 1 - line_begin_);
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    source_.refuse(fmt::format("{} in the line of its head at {}", why, place(line_begin_)));
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] std::string place(std::uint64_t byte) const { return source_.place(byte); }

  ByteSource& source_;
  std::string bytes_;
  std::size_t line_begin_ = 0;
};

/// What the fields say: name and value, both in small letters.
using NrrdEntries = std::map<std::string, std::string>;

NrrdEntries read_entries(NrrdLines& lines) {
  const std::string magic = lines.next();
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  if (magic.size() != 8 || !std::all_of(magic.begin() + 4, magic.end(), is_digit)) {
    lines.refuse(fmt::format("begins with '{}', but must with NRRD and four digits,", shown_text(magic)));
  }
  NrrdEntries entries;
  for (std::string line = lines.next(); !line.empty(); line = lines.next()) {
    if (line[0] == '#') continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) lines.refuse(fmt::format("says '{}', which is no field,", shown_text(line)));
    if (line.compare(colon, 2, ":=") == 0) continue;  // a key and its value, the user's own
    std::string name = in_small_letters(trimmed(std::string_view(line).substr(0, colon)));
    if (name == "datafile") name = "data file";
    if (name == "lineskip") name = "line skip";
    if (name == "byteskip") name = "byte skip";
    const std::string value = in_small_letters(trimmed(std::string_view(line).substr(colon + 1)));
    if (!entries.emplace(name, value).second) lines.refuse(fmt::format("says '{}' twice", shown_text(name)));
  }
  return entries;
}

/// NrrdAnswers what one head says, and refuses in the file's name.
class NrrdAnswers {
 public:
  NrrdAnswers(ByteSource& source, const NrrdEntries& entries) : source_(source), entries_(entries) {}

  [[nodiscard]] std::string of(const std::string& name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? "" : found->second;
  }
  [[nodiscard]] std::string required(const std::string& name) const {
    if (!entries_.contains(name)) source_.refuse(fmt::format("has a head that does not say '{}'", name));
    return of(name);
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    source_.refuse(fmt::format("says '{}: {}' in its head, {}", name, shown_text(of(name)), why));
  }

 private:
  ByteSource& source_;
  const NrrdEntries& entries_;
};

std::vector<std::uint64_t> read_sizes(const NrrdAnswers& answers) {
  const std::vector<std::string> words = words_of(answers.required("sizes"));
  if (words.empty() || words.size() > kMostNrrdAxes) {
    answers.refuse("sizes", fmt::format("but must name 1 to {} lengths", kMostNrrdAxes));
  }
  if (words_of(answers.required("dimension")) != std::vector{std::to_string(words.size())}) {
    answers.refuse("dimension", fmt::format("but names {} sizes", words.size()));
  }
  std::vector<std::uint64_t> sizes;
  for (const std::string& word : words) {
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), sizes.emplace_back());
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) {
      answers.refuse("sizes", "but must name whole numbers below 2^64");
    }
  }
  return sizes;
}

/// Does the first axis hold the three channels of a colour? Refuses other numbers that stand side by side in a voxel.
bool first_is_colour(const NrrdAnswers& answers, const std::vector<std::uint64_t>& sizes) {
  const std::vector<std::string> kinds = words_of(answers.of("kinds"));
  if (kinds.empty()) return sizes.size() >= 3 && sizes[0] == 3;
  if (kinds.size() != sizes.size()) answers.refuse("kinds", fmt::format("but has {} axes", sizes.size()));
  const auto is_place = [](const std::string& kind) {
    return kind == "domain" || kind == "space" || kind == "time" || kind == "none" || kind == "???";
  };
  const bool is_colour = (kinds[0] == "rgb-color" || kinds[0] == "3-color") && sizes[0] == 3;
  const std::size_t first = is_colour ? 1 : 0;
  for (std::size_t axis = first; axis < std::min(kinds.size(), first + 3); ++axis) {
    if (sizes[axis] == 1 || is_place(kinds[axis])) continue;
    answers.refuse("kinds", fmt::format("but axis {} must be a domain: of what stands side by side in a voxel only "
                                        "RGB-color is read",
                                        axis));
  }
  return is_colour;
}

void set_encoding(RawHead& head, const NrrdAnswers& answers) {
  if (!answers.of("data file").empty()) {
    answers.refuse("data file", "and has its voxels there; put both into one file");
  }
  for (const char* name : {"line skip", "byte skip"}) {
    if (!answers.of(name).empty() && answers.of(name) != "0") answers.refuse(name, "but must skip nothing");
  }
  const std::string encoding = answers.required("encoding");
  if (encoding == "gzip" || encoding == "gz") {
    head.packing = Packing::voxels;
  } else if (encoding != "raw") {
    answers.refuse("encoding", "but must be raw or gzip");
  }
  if (size_bytes(head.volume.type) == 1) return;
  const std::string endian = answers.required("endian");
  if (endian != "little" && endian != "big") answers.refuse("endian", "but must be little or big");
  head.high_byte_first = endian == "big";
}

}  // namespace

RawHead read_nrrd_head(ByteSource& source) {
  NrrdLines lines(source);
  const NrrdEntries entries = read_entries(lines);
  const NrrdAnswers answers(source, entries);
  RawHead head{.bytes = lines.bytes()};
  head.volume.format = kNrrd;
  const std::string type = answers.required("type");
  const auto known = std::find_if(std::begin(kNrrdTypes), std::end(kNrrdTypes),
                                  [&](const NrrdType& name) { return name.word == type; });
  if (known == std::end(kNrrdTypes)) answers.refuse("type", "but must be an integer of 8 to 64 bits, float or double");
  head.volume.type = known->type;
  const std::vector<std::uint64_t> sizes = read_sizes(answers);
  head.volume.channels = first_is_colour(answers, sizes) ? 3 : 1;
  set_lengths(head.volume, std::span(sizes).subspan(head.volume.channels == 3 ? 1 : 0), source);
  set_encoding(head, answers);
  return head;
}

RawHead new_nrrd_head(DataType type, const PerAxis& size) {
  RawHead head{.volume = {.format = kNrrd, .type = type, .size = size}};
  const std::string_view word = type == DataType::float32   ? "float"
                                : type == DataType::float64 ? "double"
                                                            : to_string(type);
  head.bytes = fmt::format(
      "NRRD0004\ntype: {}\ndimension: 3\nsizes: {} {} {}\nkinds: domain domain domain\nendian: little\n"
      "encoding: raw\n\n",
      word, size.x, size.y, size.z);
  return head;
}

}  // namespace tessera::tool
