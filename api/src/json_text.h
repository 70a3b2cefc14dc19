// Text inside JSON, for the trace.
#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// The text as a JSON string with its quotes. Labels are whatever a program gave: bytes that are no UTF-8 become the
/// replacement character.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace tessera::detail
