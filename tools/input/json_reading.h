// Reading JSON that may come from anywhere: nothing of it is believed before it was looked at.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace tessera::tool {

/// Keeps the order in which fields are written.
using Json = nlohmann::ordered_json;

/// What the file at `path` holds. Error invalid_argument, one sentence, for what does not open, is longer than 256 MiB,
/// is nested deeper than 64 levels, or is no JSON. `what` names it in messages: "the result".
[[nodiscard]] Json read_json_file(const std::string& path, const std::string& what);

/// A string of an object; nothing if this is no object, or has none of that name.
[[nodiscard]] std::optional<std::string> text_of(const Json& object, const char* name);
/// The same for a finite number.
[[nodiscard]] std::optional<double> number_of(const Json& object, const char* name);
/// The same for an object, and for a list; null if there is none.
[[nodiscard]] const Json* object_of(const Json& object, const char* name);
[[nodiscard]] const Json* list_of(const Json& object, const char* name);

}  // namespace tessera::tool
