// Where the library keeps what it need not find out twice: compiled programs, measured times and peaks.
#pragma once

#include <filesystem>

#include <tessera/export.h>

namespace tessera {

/// $TESSERA_CACHE_DIR, or $XDG_CACHE_HOME/tessera, or $HOME/.cache/tessera; empty if none of them is set, and then
/// nothing is kept. Does not create it. Error invalid_argument if $TESSERA_CACHE_DIR is not an absolute path.
[[nodiscard]] TESSERA_API std::filesystem::path cache_directory();

}  // namespace tessera
