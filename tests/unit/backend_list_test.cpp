// What becomes of plug-ins: each state of a backend with its reason.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/backend.h"

namespace tessera {
namespace {

BackendInfo info_of(const std::string& name) {
  for (const BackendInfo& info : backends()) {
    if (info.name == name) return info;
  }
  ADD_FAILURE() << "backends() has no " << name;
  return {};
}

void expect_state(const std::string& name, BackendState state, const std::string& part) {
  const BackendInfo info = info_of(name);
  EXPECT_EQ(to_string(info.state), to_string(state)) << name << ": " << info.reason;
  EXPECT_NE(info.reason.find(part), std::string::npos) << name << ": " << info.reason;
}

std::string fingerprint() {
  static constexpr auto kPrint = backend::plugin_fingerprint();
  return kPrint.text.data();
}

TEST(BackendListTest, ready_backends_list_their_devices) {
  expect_state("minimal", BackendState::ready, "host memory");
  EXPECT_EQ(info_of("minimal").devices, std::vector<std::string>{"minimal:0"});
  EXPECT_NE(info_of("minimal").plugin.find("libtessera_minimal.so"), std::string::npos);
}

TEST(BackendListTest, another_seam_version_is_refused_with_both_versions) {
  expect_state("other_version", BackendState::refused,
               "speaks version " + std::to_string(backend::kSeamVersion + 1) + " of the seam (library 99.0.0)");
  expect_state("other_version", BackendState::refused,
               "library speaks version " + std::to_string(backend::kSeamVersion));
}

TEST(BackendListTest, libraries_that_are_no_plugins_are_refused) {
  expect_state("no_entry", BackendState::refused, "tessera_backend_entry");
  expect_state("garbage", BackendState::refused, "too few for a library");
}

TEST(BackendListTest, a_driver_that_fails_is_a_reason) {
  expect_state("throwing", BackendState::unavailable, "the driver answers nonsense");
}

TEST(BackendListTest, another_library_is_refused_with_both_versions) {
  expect_state("other_library", BackendState::refused,
               std::string("was built for library 0.0.1, but this is library ") + TESSERA_VERSION);
}

TEST(BackendListTest, another_build_is_refused_with_what_differs) {
  expect_state("other_build", BackendState::refused, "with C++ ABI 1 and sizes: string 24, but the library with ");
  const std::string ours = fingerprint();
  expect_state("other_build", BackendState::refused, ours.substr(0, ours.find(", ")));
}

TEST(BackendListTest, the_fingerprint_names_the_abi_and_the_sizes) {
  const std::string print = fingerprint();
  EXPECT_EQ(print.find("C++ ABI " + std::to_string(__GXX_ABI_VERSION)), 0U) << print;
  EXPECT_NE(print.find(", DeviceInfo " + std::to_string(sizeof(DeviceInfo)) + ", "), std::string::npos) << print;
}

TEST(BackendListTest, a_plugin_without_a_backend_is_refused) {
  expect_state("no_backend", BackendState::refused, "makes no backend");
}

TEST(BackendListTest, whatever_is_thrown_is_a_reason) {
  expect_state("throwing_number", BackendState::unavailable, "something that is no std::exception");
  expect_state("throwing_constructor", BackendState::refused,
               "making its backend throws: something that is no std::exception");
  expect_state("throwing_entry", BackendState::refused, "the plug-in's entry throws: the entry is\\x1b[2J closed");
}

TEST(BackendListTest, what_is_not_asked_for_is_not_touched) {
  expect_state("cuda", BackendState::disabled, "$TESSERA_BACKENDS");
  EXPECT_EQ(info_of("cuda").plugin, "");
}

TEST(BackendListTest, devices_carry_their_ids) {
  const auto list = devices();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list.front().id, "minimal:0");
  EXPECT_EQ(list.front().backend, "minimal");
}

}  // namespace
}  // namespace tessera
