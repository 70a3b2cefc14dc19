// The whole text is read first: a parser that gives up in the middle could not say where the file ends.
#include "tools/input/json_reading.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <tessera/tessera.h>

#include "tools/input/input_file.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20U;
constexpr std::size_t kPiece = std::size_t{1} << 20U;
/// The files of this program have 6. A parsed value is destroyed level by level, on the stack.
constexpr int kMostLevels = 64;

std::string read_text(const std::string& path, const std::string& what) {
  InputFile file(path, what);
  std::string text;
  std::vector<std::uint8_t> piece(kPiece);
  while (const std::size_t got = file.read(piece.data(), piece.size())) {
    text.append(reinterpret_cast<const char*>(piece.data()), got);
    if (text.size() > kMostBytes)
      throw Error(ErrorCode::invalid_argument, fmt::format("{} is longer than {} bytes", file.name(), kMostBytes));
  }
  if (file.error() != 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} cannot be read", file.name()), {file.error(), "errno"});
  return text;
}

const Json* member_of(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

Json read_json_file(const std::string& path, const std::string& what) {
  const std::string text = read_text(path, what);
  bool is_deep = false;
  const auto stay_shallow = [&](int depth, Json::parse_event_t, Json&) {
    is_deep = is_deep || depth > kMostLevels;
    return depth <= kMostLevels;
  };
  Json json = Json::parse(text, stay_shallow, /*allow_exceptions=*/false);
  if (is_deep)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} '{}' is nested deeper than {} levels", what, path, kMostLevels));
  if (json.is_discarded()) throw Error(ErrorCode::invalid_argument, fmt::format("{} '{}' is no JSON", what, path));
  return json;
}

std::optional<std::string> text_of(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  if (member == nullptr || !member->is_string()) return std::nullopt;
  return member->get<std::string>();
}

std::optional<double> number_of(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  if (member == nullptr || !member->is_number()) return std::nullopt;
  const auto number = member->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

const Json* object_of(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  return member != nullptr && member->is_object() ? member : nullptr;
}

const Json* list_of(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  return member != nullptr && member->is_array() ? member : nullptr;
}

}  // namespace tessera::tool
