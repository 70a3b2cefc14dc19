// What stands for the sheet in a build without libpng: nothing is written.
#include "tools/digits/digit_sheet.h"

namespace tessera::tool {

const bool DigitSheet::kIsWritten = false;

struct DigitSheet::State {};

DigitSheet::DigitSheet(const std::string& /*path*/) {}

DigitSheet::~DigitSheet() = default;

void DigitSheet::add(const DigitImage& /*image*/) {}

void DigitSheet::finish() {}

}  // namespace tessera::tool
