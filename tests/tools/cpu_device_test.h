// What tests of the tool's parts run on: the first CPU device. Without it they are skipped with the reason.
#pragma once

#include <gtest/gtest.h>

#include <sstream>

#include <tessera/error.h>

#include "tools/selection.h"

namespace tessera::tool {

class CpuDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ostringstream complaints;
    try {
      devices_ = open_devices({"cpu:0"}, complaints);
    } catch (const Error& error) {
      GTEST_SKIP() << error.sentence();
    }
  }
  OpenDevices devices_;
};

}  // namespace tessera::tool
