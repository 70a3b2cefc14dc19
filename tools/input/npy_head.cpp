// The dictionary has the entries descr, fortran_order and shape, and nothing else.
#include "tools/input/npy_head.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

constexpr std::size_t kMostDictionary = 65536;
constexpr std::size_t kMostNpyLengths = 32;  // numpy's own limit

/// Walks over the dictionary's text, from left to right.
class Dictionary {
 public:
  Dictionary(ByteSource& source, std::string text, std::uint64_t begin)
      : source_(source), text_(std::move(text)), begin_(begin) {}

  [[noreturn]] void refuse(const std::string& why) const {
    source_.refuse(fmt::format("has a head that {} at {}", why, source_.place(begin_ + place_)));
  }
  /// The byte of the file that comes next.
  [[nodiscard]] std::uint64_t place() const noexcept { return begin_ + place_; }
  /// The next letter behind blanks; '\0' at the end.
  char next() {
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\n')) ++place_;
    return place_ < text_.size() ? text_[place_] : '\0';
  }
  bool takes(char letter) {
    if (next() != letter) return false;
    ++place_;
    return true;
  }
  void expect(char letter) {
    if (!takes(letter)) refuse(fmt::format("has no {}", letter));
  }
  std::string quoted() {
    const char quote = next();
    if (quote != '\'' && quote != '"') refuse("holds no text in quotes");
    const std::size_t end = text_.find(quote, ++place_);
    if (end == std::string::npos) refuse("does not end its text in quotes");
    const std::string word = text_.substr(place_, end - place_);
    place_ = end + 1;
    return word;
  }
  bool truth() {
    const bool is_true = (next(), text_.compare(place_, 4, "True") == 0);
    if (!is_true && text_.compare(place_, 5, "False") != 0) refuse("says neither True nor False");
    place_ += is_true ? 4 : 5;
    return is_true;
  }
  std::vector<std::uint64_t> lengths() {
    std::vector<std::uint64_t> found;
    for (expect('('); !takes(')');) {
      if (!found.empty()) expect(',');
      if (takes(')')) break;
      if (found.size() == kMostNpyLengths) refuse(fmt::format("has more than {} lengths", kMostNpyLengths));
      next();
      const auto parsed = std::from_chars(text_.data() + place_, text_.data() + text_.size(), found.emplace_back());
      if (parsed.ec != std::errc()) refuse("holds no length");
      place_ = static_cast<std::size_t>(parsed.ptr - text_.data());
    }
    return found;
  }

 private:
  ByteSource& source_;
  std::string text_;
  std::uint64_t begin_;
  std::size_t place_ = 0;
};

/// "<f4" and its like.
void set_type(NpyHead& head, const std::string& word, const Dictionary& dictionary) {
  struct Known {
    std::string_view name;
    DataType type;
  };
  static constexpr Known kKnown[] = {{"i1", DataType::int8},   {"u1", DataType::uint8},  {"i2", DataType::int16},
                                     {"u2", DataType::uint16}, {"i4", DataType::int32},  {"u4", DataType::uint32},
                                     {"i8", DataType::int64},  {"u8", DataType::uint64}, {"f4", DataType::float32},
                                     {"f8", DataType::float64}};
  const auto known = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& entry) {
    return word.size() == 3 && word.substr(1) == entry.name && std::string_view("<>|=").find(word[0]) < 4;
  });
  if (known == std::end(kKnown)) {
    dictionary.refuse("names a type that is neither an integer of 1 to 8 bytes, nor f4, nor f8,");
  }
  head.type = known->type;
  head.high_byte_first = word[0] == '>';
}

/// The bytes from the first to the last of the dictionary, which begins at `begin`.
std::string read_bytes(ByteSource& source, std::size_t& begin) {
  constexpr std::size_t kStartBytes = 8;
  std::uint8_t start[kStartBytes + 4] = {};
  if (source.read(start, kStartBytes) != kStartBytes ||
      std::string_view("\x93NUMPY") != std::string_view(reinterpret_cast<const char*>(start), 6)) {
    source.refuse("begins with byte 0x93, but goes on otherwise than NPY files do");
  }
  if (start[6] < 1 || start[6] > 3) {
    source.refuse(fmt::format("is NPY of version {}.{} (byte 6), but must be of 1.0 to 3.0", start[6], start[7]));
  }
  const std::size_t length_bytes = start[6] == 1 ? 2 : 4;
  const std::uint8_t* const bytes = start + kStartBytes;
  std::size_t got = source.read(start + kStartBytes, length_bytes);
  const std::size_t length = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<std::size_t>(bytes[3]) << 24;
  if (got == length_bytes && length > kMostDictionary) {
    source.refuse(
        fmt::format("says at byte 8 that its head has {} bytes, but it may have at most {}", length, kMostDictionary));
  }
  begin = kStartBytes + length_bytes;
  std::string head(reinterpret_cast<const char*>(start), begin);
  head.resize(begin + length);
  if (got == length_bytes) got += source.read(reinterpret_cast<std::uint8_t*>(head.data()) + begin, length);
  if (got != length_bytes + length)
    source.refuse(fmt::format("ends at {}, in its head", source.place(source.position())));
  return head;
}

}  // namespace

NpyHead read_npy_head(ByteSource& source) {
  NpyHead head;
  std::size_t begin = 0;
  head.bytes = read_bytes(source, begin);
  Dictionary dictionary(source, head.bytes.substr(begin), begin);
  bool has_type = false, has_order = false;
  for (dictionary.expect('{'); !dictionary.takes('}');) {
    const std::string key = dictionary.quoted();
    dictionary.expect(':');
    if (key == "descr") {
      set_type(head, dictionary.quoted(), dictionary);
      has_type = true;
    } else if (key == "fortran_order") {
      head.columns_first = dictionary.truth();
      head.order_end = dictionary.place();
      has_order = true;
    } else if (key == "shape") {
      head.lengths = dictionary.lengths();
      if (head.lengths.empty()) dictionary.refuse("says that the file holds a single number, and no rows,");
    } else {
      dictionary.refuse("has an entry that NPY does not know");
    }
    if (!dictionary.takes(',') && dictionary.next() != '}') dictionary.refuse("has no , between two entries");
  }
  if (dictionary.next() != '\0') dictionary.refuse("goes on behind its dictionary");
  if (!has_type || !has_order || head.lengths.empty()) {
    dictionary.refuse("lacks one of descr, fortran_order and shape");
  }
  return head;
}

}  // namespace tessera::tool
