// JSON as the library's own line files hold it: one object a line, read strictly and written plainly. The library
// stands on the standard library alone; what is read may have been written by anybody.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::detail {

struct JsonField;
/// null and arrays are std::monostate: nobody here asks for their content.
using JsonValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<JsonField>>;

/// One object, in the order of its text. A name stands there once.
using JsonObject = std::vector<JsonField>;
struct JsonField {
  std::string name;
  JsonValue value;
};

/// A line as an object, or a sentence that says why it is none: anything behind it, a name that stands twice, a number
/// that no double holds, a text that is no UTF-8, more levels or fields than anybody here writes.
using JsonLine = std::variant<JsonObject, std::string>;
[[nodiscard]] JsonLine parse_json_line(std::string_view line);

/// The field of that name, null if it is not there.
[[nodiscard]] const JsonValue* find_field(const JsonObject& object, std::string_view name);

/// Writes one object.
class JsonWriter {
 public:
  void text(std::string_view name, std::string_view value);
  void number(std::string_view name, double value);
  void integer(std::string_view name, std::int64_t value);
  void integers(std::string_view name, const std::map<std::string, std::int64_t>& values);
  /// "{...}" without an end of line.
  [[nodiscard]] std::string take();

 private:
  void begin(std::string_view name);
  std::string text_;
};

}  // namespace tessera::detail
