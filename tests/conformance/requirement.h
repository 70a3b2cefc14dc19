// What the end of a run tells about backends: which are absent and why, and whether $TESSERA_REQUIRE is met.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::testing_support {

/// One sentence for each backend that $TESSERA_REQUIRE="cpu_tbb,opencl" names and that is unknown or not ready.
[[nodiscard]] std::vector<std::string> unmet_requirements();

/// Is the backend among those that $TESSERA_REQUIRE names?
[[nodiscard]] bool is_required(const std::string& backend);

/// Prints a line that reproduces each failed test, and at the end every backend with its state and reason.
class RunReport : public testing::EmptyTestEventListener {
 public:
  explicit RunReport(std::string program) : program_(std::move(program)) {}
  void OnTestEnd(const testing::TestInfo& test) override;
  void OnTestProgramEnd(const testing::UnitTest& unit_test) override;

 private:
  std::string program_;
};

}  // namespace tessera::testing_support
