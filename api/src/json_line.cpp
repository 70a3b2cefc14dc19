// A recursive parser of RFC 8259, for lines: no end of line stands inside of one.
#include "json_line.h"

#include <tessera/error.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "backend/sentence.h"
#include "json_text.h"
#include "printable.h"

namespace tessera::detail {
namespace {

constexpr int kMostLevels = 8;
/// Of one object: looking for a name that stands twice must not take long, whoever wrote the line.
constexpr std::size_t kMostFields = 100;

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0U | (code >> 6U));
  } else {
    if (code < 0x10000) {
      add(0xE0U | (code >> 12U));
    } else {
      add(0xF0U | (code >> 18U));
      add(0x80U | ((code >> 12U) & 0x3FU));
    }
    add(0x80U | ((code >> 6U) & 0x3FU));
  }
  add(0x80U | (code & 0x3FU));
}

/// Throws Errors, whose sentences parse_json_line() returns.
class JsonLineReader {
 public:
  explicit JsonLineReader(std::string_view line) : line_(line) {}

  JsonObject whole() {
    if (next() != '{') fail("an object must begin with {");
    JsonObject read = object(1);
    skip_blanks();
    if (place_ != line_.size()) fail("nothing may stand behind the object");
    return read;
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw Error(ErrorCode::invalid_argument, backend::sentence("at letter ", place_ + 1, ": ", why));
  }
  void skip_blanks() {
    while (place_ < line_.size() && (line_[place_] == ' ' || line_[place_] == '\t' || line_[place_] == '\r')) ++place_;
  }
  /// The next letter that is no blank, which stays where it is; 0 at the end.
  char next() {
    skip_blanks();
    return place_ < line_.size() ? line_[place_] : '\0';
  }
  bool take(char letter) {
    if (next() != letter || place_ == line_.size()) return false;
    ++place_;
    return true;
  }

  JsonObject object(int level) {
    JsonObject fields;
    ++place_;
    if (take('}')) return fields;
    do {
      if (next() != '"') fail("a name must stand in quotes");
      std::string name = string();
      if (fields.size() == kMostFields) fail(backend::sentence("there are more than ", kMostFields, " fields"));
      if (find_field(fields, name) != nullptr) fail(backend::sentence("the name '", printable(name), "' stands twice"));
      if (!take(':')) fail("a colon must follow a name");
      JsonValue read = value(level);
      fields.push_back({std::move(name), std::move(read)});
    } while (take(','));
    if (!take('}')) fail("the object has no end");
    return fields;
  }

  void array(int level) {
    ++place_;
    if (take(']')) return;
    do {
      static_cast<void>(value(level));
    } while (take(','));
    if (!take(']')) fail("the array has no end");
  }

  JsonValue value(int level) {
    switch (next()) {
      case '{':
      case '[':
        if (level == kMostLevels) fail(backend::sentence("there are more than ", kMostLevels, " levels"));
        if (line_[place_] == '{') return object(level + 1);
        array(level + 1);
        return {};
      case '"': return string();
      case 't': return word("true"), JsonValue(true);
      case 'f': return word("false"), JsonValue(false);
      case 'n': return word("null"), JsonValue();
      default: return number();
    }
  }

  void word(std::string_view expected) {
    if (line_.substr(place_, expected.size()) != expected) fail("there is no such value");
    place_ += expected.size();
  }

  /// from_chars() takes words and leading zeros that JSON has not.
  JsonValue number() {
    const std::size_t start = place_;
    std::size_t end = place_ + (next() == '-' ? 1 : 0);
    const auto digits = [&] {
      const std::size_t first = end;
      while (end < line_.size() && is_digit(line_[end])) ++end;
      if (end == first) fail("a value must stand here");
      return end - first;
    };
    const std::size_t first = end;
    if (digits() > 1 && line_[first] == '0') fail("a number begins with 0");
    bool is_integer = true;
    if (end < line_.size() && line_[end] == '.') is_integer = false, ++end, static_cast<void>(digits());
    if (end < line_.size() && (line_[end] == 'e' || line_[end] == 'E')) {
      is_integer = false, ++end;
      if (end < line_.size() && (line_[end] == '+' || line_[end] == '-')) ++end;
      static_cast<void>(digits());
    }
    const char* const begin = line_.data() + start;
    const char* const stop = line_.data() + end;
    std::int64_t integer = 0;
    double real = 0;
    if (is_integer && std::from_chars(begin, stop, integer).ec == std::errc()) return place_ = end, JsonValue(integer);
    if (std::from_chars(begin, stop, real).ec != std::errc() || !std::isfinite(real)) fail("no double is that number");
    return place_ = end, JsonValue(real);
  }

  std::uint32_t hexadecimal() {
    std::uint32_t code = 0;
    const std::string_view digits = line_.substr(place_, 4);
    const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() < 4 || failure != std::errc() || stop != digits.data() + 4) fail("\\u wants four digits");
    place_ += 4;
    return code;
  }

  void escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = place_ < line_.size() ? line_[place_++] : '\0';
    if (const std::size_t known = kLetters.find(letter); letter != '\0' && known != std::string_view::npos) {
      out += kMeanings[known];
      return;
    }
    if (letter != 'u') fail("there is no such escape");
    std::uint32_t code = hexadecimal();
    if (code >= 0xDC00 && code < 0xE000) fail("half a pair of surrogates");
    if (code >= 0xD800 && code < 0xDC00) {
      if (line_.substr(place_, 2) != "\\u") fail("half a pair of surrogates");
      place_ += 2;
      const std::uint32_t low = hexadecimal();
      if (low < 0xDC00 || low >= 0xE000) fail("half a pair of surrogates");
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    }
    append_utf8(out, code);
  }

  std::string string() {
    std::string out;
    ++place_;
    for (;;) {
      if (place_ >= line_.size()) fail("a text has no end");
      const char letter = line_[place_++];
      if (letter == '"') {
        if (!is_utf8(out)) fail("a text is no UTF-8");
        return out;
      }
      if (static_cast<unsigned char>(letter) < 0x20) fail("a control character stands in a text");
      if (letter == '\\') {
        escape(out);
      } else {
        out += letter;
      }
    }
  }

  std::string_view line_;
  std::size_t place_ = 0;
};

}  // namespace

JsonLine parse_json_line(std::string_view line) {
  try {
    return JsonLineReader(line).whole();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return error.sentence();
  }
}

const JsonValue* find_field(const JsonObject& object, std::string_view name) {
  for (const JsonField& field : object) {
    if (field.name == name) return &field.value;
  }
  return nullptr;
}

void JsonWriter::begin(std::string_view name) {
  text_ += text_.empty() ? "{" : ",";
  text_ += json_quoted(name);
  text_ += ':';
}

void JsonWriter::text(std::string_view name, std::string_view value) {
  begin(name);
  text_ += json_quoted(value);
}

void JsonWriter::number(std::string_view name, double value) {
  begin(name);
  std::array<char, 32> digits{};
  text_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void JsonWriter::integer(std::string_view name, std::int64_t value) {
  begin(name);
  text_ += std::to_string(value);
}

void JsonWriter::integers(std::string_view name, const std::map<std::string, std::int64_t>& values) {
  begin(name);
  JsonWriter inner;
  for (const auto& [inner_name, value] : values) inner.integer(inner_name, value);
  text_ += values.empty() ? "{}" : inner.take();
}

std::string JsonWriter::take() {
  return std::exchange(text_, {}) + "}";
}

}  // namespace tessera::detail
