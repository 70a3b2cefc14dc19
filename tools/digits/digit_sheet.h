// A picture of some images of every digit: a row for each.
#pragma once

#include <memory>
#include <string>

#include "tools/digits/digit_drawing.h"

namespace tessera::tool {

class DigitSheet {
 public:
  /// False in a build without libpng: there is no file then, and nothing is written.
  static const bool kIsWritten;

  /// Errors as OutputFile's.
  explicit DigitSheet(const std::string& path);
  DigitSheet(const DigitSheet&) = delete;
  DigitSheet& operator=(const DigitSheet&) = delete;
  /// Leaves no file behind, unless finish() was called.
  ~DigitSheet();

  /// Takes its place in its digit's row, if that is not full.
  void add(const DigitImage& image);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::tool
