// Words out of a file as a message may hold them: nothing in them reaches the terminal but letters that print.
#pragma once

#include <string>
#include <string_view>

namespace tessera::tool {

/// Bytes that are no printing ASCII become \x1b and the like; what is longer than `most` letters is cut.
[[nodiscard]] std::string shown_text(std::string_view word, std::size_t most = 60);

}  // namespace tessera::tool
