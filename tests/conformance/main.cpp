// The conformance test program. `--backend=<b>` limits it to the devices of one backend; GoogleTest's options choose
// among the tests. Exit status 77: that backend is not here, and $TESSERA_REQUIRE does not ask for it.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.h>

#include "devices_present.h"
#include "operator_conformance_test.h"
#include "requirement.h"

namespace {

using namespace tessera::testing_support;

constexpr int kNothingToRun = 77;

/// Takes our own options out of the command line, so that GoogleTest sees only its own.
void take_options(int& argc, char** argv) {
  constexpr std::string_view kBackend = "--backend=";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(kBackend)) {
      restrict_to_backend(std::string(word.substr(kBackend.size())));
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
}

/// The status to end with before any test runs, or -1 to go on.
int status_without_devices() {
  if (!device_ids().empty()) return -1;
  const std::string& backend = restricting_backend();
  for (const tessera::BackendInfo& info : tessera::backends()) {
    if (backend.empty() || info.name == backend) {
      std::printf("backend %s is %s: %s\n", info.name.c_str(), std::string(to_string(info.state)).c_str(),
                  info.reason.c_str());
    }
  }
  for (const std::string& sentence : unmet_requirements()) std::printf("FAILED: %s\n", sentence.c_str());
  if (!unmet_requirements().empty()) return 1;
  if (backend.empty()) {
    std::puts("FAILED: no device at all is present, so that nothing can be tested");
    return 1;
  }
  for (const tessera::BackendInfo& info : tessera::backends()) {
    if (info.name == backend) return kNothingToRun;
  }
  std::printf("FAILED: --backend=%s names no backend\n", backend.c_str());
  return 1;
}

int run(int argc, char** argv) {
  take_options(argc, argv);
  if (const int status = status_without_devices(); status >= 0) return status;
  testing::InitGoogleTest(&argc, argv);
  register_operator_tests();
  const bool lists_only = testing::GTEST_FLAG(list_tests);
  if (!lists_only) testing::UnitTest::GetInstance()->listeners().Append(new RunReport(argv[0]));
  const int status = RUN_ALL_TESTS();
  if (lists_only) return status;
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::puts("FAILED: no test fits the filter");
    return 1;
  }
  return unmet_requirements().empty() ? status : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::printf("FAILED before the tests: %s\n", error.what());
    return 1;
  }
}
