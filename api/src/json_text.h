// Text inside JSON, for the trace and for the library's own line files.
#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// The text as a JSON string with its quotes. Labels are whatever a program gave: bytes that are no UTF-8 become the
/// replacement character.
[[nodiscard]] std::string json_quoted(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace tessera::detail
