// A limit for calls that may never return: the program ends, and says which call it was.
#pragma once

#include <string>

namespace tessera::testing_support {

/// While it lives, the program ends with `what` and status 1 once `seconds` are over.
class TimeLimit {
 public:
  TimeLimit(std::string what, double seconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
};

}  // namespace tessera::testing_support
