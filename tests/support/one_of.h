// How many of its many like steps a single test takes, where another build takes them all.
#pragma once

#include <cstdlib>

namespace tessera::testing_support {

/// Every which of them: $TESSERA_TEST_ONE_OF, which CMake sets where another build or other cases show the same, or 1
/// for all.
inline int one_of() {
  const char* text = std::getenv("TESSERA_TEST_ONE_OF");
  const int number = text == nullptr ? 1 : std::atoi(text);
  return number < 1 ? 1 : number;
}

}  // namespace tessera::testing_support
