// Where events of the log go: to standard error as $TESSERA_LOG says, and to the program's own function.
#pragma once

#include <tessera/log.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::detail {

/// The words of $TESSERA_LOG as bits. Error invalid_argument for one that is none.
[[nodiscard]] std::uint32_t log_kinds_of(const std::vector<std::string>& words);

/// Writes events of these kinds to standard error, each as one line in one call of the system.
void log_to_standard_error(std::uint32_t kinds);

/// Tells whoever listens. The caller holds no lock: the program's function may use the library.
void tell(const LogEvent& event) noexcept;

}  // namespace tessera::detail
