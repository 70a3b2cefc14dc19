// Numbers as words.
#include "conformance/case_name.h"

#include <cstdio>

namespace tessera::conformance {

std::string number_for_name(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  std::string name;
  for (const char* c = text; *c != 0; ++c) name += *c == '-' ? 'm' : *c == '.' ? 'p' : *c == '+' ? '_' : *c;
  return name;
}

}  // namespace tessera::conformance
