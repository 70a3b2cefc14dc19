// Builds the sentences of errors and reasons from words and numbers: sentence("lda of gemm is ", 3, ...).
#pragma once

#include <locale>
#include <sstream>
#include <string>

namespace tessera::backend {

/// The parts one after the other, as a stream would print them.
template <class... Parts>
[[nodiscard]] std::string sentence(const Parts&... parts) {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  stream.exceptions(std::ios_base::badbit);  // memory that runs out is thrown: a stream would leave half a sentence
  (stream << ... << parts);
  return std::move(stream).str();
}

/// "a, b and c"; `none` for an empty range. Elements are anything that a stream prints.
template <class Range>
[[nodiscard]] std::string enumerate(const Range& range, const char* none = "none") {
  std::string text;
  std::size_t left = std::size(range);
  for (const auto& element : range) {
    text += sentence(element);
    --left;
    text += left > 1 ? ", " : left == 1 ? " and " : "";
  }
  return text.empty() ? none : text;
}

}  // namespace tessera::backend
