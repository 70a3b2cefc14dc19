// Where libpng's errors end. libpng leaves a call that fails by longjmp, which runs no destructor: so each call goes
// through run_guarded(), whose body owns nothing, and becomes an exception only behind it.
#pragma once

#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <string>

namespace tessera::tool {

/// What libpng said during one guarded call. The two functions below are libpng's callbacks and point to it.
struct PngWords {
  std::array<char, 160> error{};
  std::array<char, 160> warning{};  ///< the last one; often what an error that follows is about

  [[nodiscard]] std::string text() const {
    return warning[0] == '\0' ? error.data() : std::string(error.data()) + " (" + warning.data() + ")";
  }
};

[[noreturn]] inline void keep_png_error(png_structp png, png_const_charp text) {
  auto& words = *static_cast<PngWords*>(png_get_error_ptr(png));
  std::snprintf(words.error.data(), words.error.size(), "%s", text);
  png_longjmp(png, 1);
}

inline void keep_png_warning(png_structp png, png_const_charp text) {
  auto& words = *static_cast<PngWords*>(png_get_error_ptr(png));
  std::snprintf(words.warning.data(), words.warning.size(), "%s", text);
}

/// Runs `body`, which may call libpng and must create nothing that has a destructor. False if libpng gave up.
template <class Body>
[[nodiscard]] bool run_guarded(png_structp png, PngWords& words, const Body& body) {
  words = {};
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  body();
  return true;
}

}  // namespace tessera::tool
