// Handles that were moved from hold nothing: using one is an invalid_argument that says so. Each in a process of its
// own, because the failure looked for is a crash.
#include <gtest/gtest.h>

#include <string>

#include "each_device.h"
#include "support/child_process.h"

namespace tessera::testing_support {
namespace {

class MovedFromMisuseTest : public testing::TestWithParam<const char*> {};

TEST_P(MovedFromMisuseTest, is_an_invalid_argument) {
  const ChildResult child =
      run_child(beside_this_program("tessera_misuse_probe"), {"moved", GetParam()}, {{"TESSERA_BACKENDS", "cpu_tbb"}});
  EXPECT_EQ(child.signal, 0) << "it crashes";
  EXPECT_EQ(child.status, 3) << child.output;
  EXPECT_TRUE(contains(child.output, "error invalid_argument"));
  EXPECT_TRUE(contains(child.output, "moved from"));
}

INSTANTIATE_TEST_SUITE_P(handles, MovedFromMisuseTest,
                         testing::Values("queue.run", "queue.fill", "queue.finish", "queue.record", "kernel.run",
                                         "event.wait", "event.is_done", "event.queue_wait", "event.seconds",
                                         "device.info", "device.allocate", "device.allocate_pinned", "device.upload",
                                         "device.memory", "device.trim", "device.kernel", "device.compile",
                                         "device.explain", "device.queue"),
                         [](const testing::TestParamInfo<const char*>& test) { return name_for_tests(test.param); });

}  // namespace
}  // namespace tessera::testing_support
