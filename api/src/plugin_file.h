// Whether a file can be handed to the loader. dlopen() waits for ever on a FIFO, and maps a file that was cut off
// without a complaint, after which the first touch of what is missing ends the program with SIGBUS.
#pragma once

#include <filesystem>
#include <string>

namespace tessera::detail {

/// "" if it is a regular file, and as long as its own headers say; otherwise why not, to stand behind the file's name:
/// "is a FIFO, but must be a regular file". Whether it is a library for this machine the loader says. Never waits.
[[nodiscard]] std::string why_not_loadable(const std::filesystem::path& file);

}  // namespace tessera::detail
