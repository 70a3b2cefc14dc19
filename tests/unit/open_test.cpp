// Names of devices: each part of a wrong one is named, and nothing is chosen silently.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <cstdlib>

#include "expect_error.h"

namespace tessera {
namespace {

TEST(OpenTest, without_a_name_it_says_what_it_took_and_why) {
  ::unsetenv("TESSERA_DEVICE");
  const Device device = open();
  EXPECT_EQ(device.id(), "minimal:0");
  EXPECT_NE(device.info().chosen_because.find("first of minimal:0"), std::string::npos) << device.info().chosen_because;
  EXPECT_EQ(open("minimal:0").info().chosen_because, "");
}

TEST(OpenTest, the_environment_names_the_device) {
  ::setenv("TESSERA_DEVICE", "minimal:0?memory=4096", 1);
  const DeviceInfo info = open().info();
  EXPECT_EQ(info.memory_total_bytes, 4096U);
  EXPECT_NE(info.chosen_because.find("$TESSERA_DEVICE"), std::string::npos);
  ::setenv("TESSERA_DEVICE", "minimal:7", 1);
  EXPECT_ERROR((void)open(), ErrorCode::unavailable, "minimal:7", "$TESSERA_DEVICE", "devices present: minimal:0");
  ::unsetenv("TESSERA_DEVICE");
}

TEST(OpenTest, names_that_are_no_names) {
  EXPECT_ERROR((void)open("minimal"), ErrorCode::invalid_argument, "'minimal'", "no index");
  EXPECT_ERROR((void)open(":0"), ErrorCode::invalid_argument, "':0'");
  EXPECT_ERROR((void)open("minimal:x"), ErrorCode::invalid_argument, "'x'", "not a number");
  EXPECT_ERROR((void)open("minimal:-1"), ErrorCode::invalid_argument, "'-1'");
  EXPECT_ERROR((void)open("minimal:99999999999999999999"), ErrorCode::invalid_argument, "99999999999999999999");
  EXPECT_ERROR((void)open("cudda:0"), ErrorCode::invalid_argument, "'cudda'", "cuda", "opencl", "cpu", "minimal");
}

TEST(OpenTest, absent_devices_are_told_with_what_is_there) {
  EXPECT_ERROR((void)open("minimal:1"), ErrorCode::unavailable, "minimal:1", "1 device", "minimal:0");
  EXPECT_ERROR((void)open("cuda:0"), ErrorCode::unavailable, "cuda:0", "disabled", "$TESSERA_BACKENDS", "minimal:0");
}

TEST(OpenTest, options_are_checked) {
  EXPECT_ERROR((void)open("minimal:0?bogus=1"), ErrorCode::invalid_argument, "'bogus'", "memory");
  EXPECT_ERROR((void)open("minimal:0?memory"), ErrorCode::invalid_argument, "'memory'", "key=value");
  EXPECT_ERROR((void)open("minimal:0?memory=1&memory=2"), ErrorCode::invalid_argument, "'memory'", "twice");
  EXPECT_ERROR((void)open("minimal:0?memory=lots"), ErrorCode::invalid_argument, "'lots'");
}

}  // namespace
}  // namespace tessera
