// Absent backends, $TESSERA_REQUIRE, and the line that reproduces a failure.
#include "requirement.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <tessera/tessera.h>

#include "devices_present.h"

namespace tessera::testing_support {

namespace {

std::vector<std::string> required_backends() {
  const char* value = std::getenv("TESSERA_REQUIRE");
  std::vector<std::string> names;
  std::istringstream list(value != nullptr ? value : "");
  for (std::string name; std::getline(list, name, ',');) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

/// Everything in the environment that decides what a test meets.
std::string environment_prefix() {
  std::string prefix;
  for (const char* name : {"TESSERA_BACKENDS", "TESSERA_BACKEND_PATH", "TESSERA_DEVICE", "TESSERA_CACHE_DIR",
                           "OCL_ICD_VENDORS", "POCL_CACHE_DIR", "CUDA_VISIBLE_DEVICES"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) prefix += std::string(name) + "='" + value + "' ";
  }
  return prefix;
}

}  // namespace

std::vector<std::string> unmet_requirements() {
  const std::vector<BackendInfo> known = backends();
  std::vector<std::string> sentences;
  for (const std::string& name : required_backends()) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const BackendInfo& backend) { return backend.name == name; });
    if (found == known.end()) {
      std::string names;
      for (const BackendInfo& backend : known) names += (names.empty() ? "" : ", ") + backend.name;
      sentences.push_back("$TESSERA_REQUIRE names the backend '" + name + "', but the backends are " + names);
    } else if (found->state != BackendState::ready) {
      sentences.push_back("$TESSERA_REQUIRE names the backend '" + name + "', but it is " +
                          std::string(to_string(found->state)) + ": " + found->reason);
    }
  }
  return sentences;
}

bool is_required(const std::string& backend) {
  const std::vector<std::string> names = required_backends();
  return std::find(names.begin(), names.end(), backend) != names.end();
}

void RunReport::OnTestEnd(const testing::TestInfo& test) {
  if (!test.result()->Failed()) return;
  std::printf("reproduce with: %s%s --gtest_filter='%s.%s'\n", environment_prefix().c_str(), program_.c_str(),
              test.test_suite_name(), test.name());
  std::fflush(stdout);
}

void RunReport::OnTestProgramEnd(const testing::UnitTest&) {
  std::string devices;
  for (const std::string& id : device_ids()) devices += " " + id + " (" + shared_device(id).info().name + ")";
  std::printf("devices under test:%s\n", devices.c_str());
  for (const BackendInfo& backend : backends()) {
    std::printf("backend %s is %s: %s\n", backend.name.c_str(), std::string(to_string(backend.state)).c_str(),
                backend.reason.c_str());
  }
  for (const std::string& sentence : unmet_requirements()) std::printf("FAILED: %s\n", sentence.c_str());
  std::fflush(stdout);
}

}  // namespace tessera::testing_support
