// What the tests on the scripted backend share: its devices, its script, and words for what is expected.
#pragma once

#include <gtest/gtest.h>

#include <tessera/tessera.h>

#include <chrono>
#include <thread>

#include "script.h"
#include "unit/expect_error.h"

namespace tessera::testing {

using scripted::Call;
using scripted::Script;

/// The script of the plug-in that the library has loaded.
[[nodiscard]] Script& script();

/// Each test starts with a script in which nothing fails and ends with no object left.
class ScriptedTest : public ::testing::Test {
 protected:
  void SetUp() override { script().reset(); }
  void TearDown() override {
    script().reset();
    EXPECT_EQ(script().violations, 0) << "memory was freed while a command was to use it";
    EXPECT_EQ(script().buffers, 0);
    EXPECT_EQ(script().pinned, 0);
    EXPECT_EQ(script().queues, 0);
    EXPECT_EQ(script().events, 0);
    EXPECT_EQ(script().kernels, 0);
    EXPECT_EQ(script().taken_bytes, 0U);
  }
};

/// Lets commands run again a little later, from another thread, and says whether it has.
class ReleasedLater {
 public:
  explicit ReleasedLater(std::chrono::milliseconds delay = std::chrono::milliseconds(50))
      : thread_([this, delay] {
          std::this_thread::sleep_for(delay);
          has_released_ = true;
          script().release();
        }) {}
  ~ReleasedLater() { thread_.join(); }
  ReleasedLater(const ReleasedLater&) = delete;
  ReleasedLater& operator=(const ReleasedLater&) = delete;
  [[nodiscard]] bool has_released() const noexcept { return has_released_; }

 private:
  std::atomic<bool> has_released_{false};
  std::thread thread_;
};

}  // namespace tessera::testing
