// Escapes what JSON does not take as it is, and knows what is UTF-8.
#include "json_text.h"

#include <array>
#include <cstddef>
#include <cstdio>

namespace tessera::detail {
namespace {

constexpr const char* kReplacement = "\\ufffd";

unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// How many bytes the character at the text's begin has in UTF-8; 0 if they are no character.
std::size_t character_bytes(std::string_view text) noexcept {
  const unsigned first = byte_at(text, 0);
  const unsigned second = byte_at(text, 1);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80) return 0;
  }
  const bool is_overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return is_overlong || is_beyond ? 0 : bytes;
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const unsigned first = byte_at(text, 0);
    if (bytes == 0) {
      quoted += kReplacement;
    } else if (first == '"' || first == '\\') {
      quoted += {'\\', text.front()};
    } else if (first < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", first);
      quoted += escape.data();
    } else {
      quoted += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return quoted + '"';
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace tessera::detail
