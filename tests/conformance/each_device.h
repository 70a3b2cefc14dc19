// The fixture of tests that run on every device present.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "devices_present.h"

namespace tessera::testing_support {

/// `device()` is shared by all tests of the process.
class EachDevice : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const Device& device() const { return shared_device(GetParam()); }
  /// A handle that shares nothing with other tests: for statistics, and for handles that die early.
  [[nodiscard]] Device fresh_device() const { return open(GetParam()); }
};

/// The code of the Error that `action` throws, and its sentence; fails the test if it throws none.
struct Refusal {
  ErrorCode code = ErrorCode::internal;
  std::string sentence;
  std::string what;
  std::string log;
};
template <class Action>
[[nodiscard]] Refusal refusal_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.sentence(), error.what(), error.log()};
  }
  ADD_FAILURE() << "an Error must be thrown, but none was";
  return {};
}

/// The end of a test's name: "cuda_0".
inline std::string device_test_name(const testing::TestParamInfo<std::string>& test) {
  return name_for_tests(test.param);
}

/// Expects that a text contains another.
inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

/// A wrong argument was named, and the sentence has all these parts: the value, the limit, the name.
inline void expect_refused(const Refusal& refusal, const std::vector<std::string>& parts) {
  EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
  for (const std::string& part : parts) EXPECT_TRUE(contains(refusal.sentence, part));
}

}  // namespace tessera::testing_support

/// Instantiates a fixture derived from EachDevice: names end in "/cuda_0".
#define TESSERA_ON_EACH_DEVICE(Fixture)                                                             \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Fixture);                                           \
  INSTANTIATE_TEST_SUITE_P(api, Fixture, testing::ValuesIn(tessera::testing_support::device_ids()), \
                           tessera::testing_support::device_test_name)
