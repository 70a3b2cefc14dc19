// The environment variables of the library, read and checked in one place.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::detail {

/// The variable's value; nothing if it is not set or empty, or if the program runs with rights that its caller has not.
[[nodiscard]] std::optional<std::string> environment_value(const char* name);

/// The value split at `separator`, empty parts left out; nothing if it is not set or empty.
[[nodiscard]] std::optional<std::vector<std::string>> environment_list(const char* name, char separator);

/// $TESSERA_BACKEND_PATH, in order. Error invalid_argument for a path that is not absolute.
[[nodiscard]] std::vector<std::filesystem::path> backend_search_path();

}  // namespace tessera::detail
