// EXPECT_ERROR: a statement must throw tessera::Error with this code, and its words must contain every part named.
#pragma once

#include <gtest/gtest.h>

#include <tessera/error.h>

#include <string>
#include <vector>

namespace tessera::testing {

template <class Statement>
void expect_error(const char* text, ErrorCode code, const std::vector<std::string>& parts, Statement&& statement) {
  try {
    statement();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << text << " throws: " << error.what();
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << text << " throws: " << error.what() << "\nbut the words should contain: " << part;
    }
    return;
  }
  ADD_FAILURE() << text << " does not throw, but should throw " << to_string(code);
}

}  // namespace tessera::testing

#define EXPECT_ERROR(statement, code, ...) \
  ::tessera::testing::expect_error(#statement, (code), {__VA_ARGS__}, [&] { statement; })
