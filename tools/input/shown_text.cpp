// Escapes for messages.
#include "tools/input/shown_text.h"

#include <fmt/format.h>

namespace tessera::tool {

std::string shown_text(std::string_view word, std::size_t most) {
  std::string text;
  for (const char letter : word.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(letter);
    text += byte >= ' ' && byte < 0x7f ? std::string(1, letter) : fmt::format("\\x{:02x}", byte);
  }
  return word.size() > most ? text + "..." : text;
}

}  // namespace tessera::tool
