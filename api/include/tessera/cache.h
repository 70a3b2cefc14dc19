// Where the library keeps what it need not find out twice: compiled programs, measured times and peaks.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <tessera/export.h>

namespace tessera {

/// $TESSERA_CACHE_DIR, or $XDG_CACHE_HOME/tessera, or $HOME/.cache/tessera; empty if none of them is set, and then
/// nothing is kept. Does not create it. Error invalid_argument if $TESSERA_CACHE_DIR is not an absolute path.
///
/// It and its folders are made for this user alone. Nothing is kept or found in one that is a link, belongs to another
/// user, or can be written by the group or by others. A program that runs with rights that its caller has not
/// (set-user-ID) finds none of the variables set.
[[nodiscard]] TESSERA_API std::filesystem::path cache_directory();

/// What store_in_cache() kept in this folder of the cache under exactly this key, or nothing. A file that is damaged or
/// that another user could have written is removed. Error invalid_argument if `folder` is not one name, and as
/// cache_directory().
[[nodiscard]] TESSERA_API std::optional<std::string> find_in_cache(std::string_view folder, std::string_view key);

/// Keeps a value for find_in_cache(), also of later processes. Readers see all of it or none. If it cannot be written,
/// nothing is kept, silently. Error invalid_argument if `folder` is not one name.
TESSERA_API void store_in_cache(std::string_view folder, std::string_view key, std::string_view value);

}  // namespace tessera
