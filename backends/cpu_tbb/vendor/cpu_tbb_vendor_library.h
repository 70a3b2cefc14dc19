// What is asked of every vendor's library that is opened when the program runs.
#pragma once

#include <string_view>

#include "backend/shared_library.h"
#include "backend/variant.h"

namespace tessera::cpu_tbb {

/// No if the library did not open; the reason holds every name that was tried and the loader's words.
[[nodiscard]] backend::Verdict vendor_library_opens(std::string_view vendor, const backend::SharedLibrary& library);

}  // namespace tessera::cpu_tbb
