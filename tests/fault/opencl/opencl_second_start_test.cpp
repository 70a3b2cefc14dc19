// A second start compiles nothing: what was compiled once is taken from the cache on disk.
// The driver's calls are counted, and the caches' files; each start is a process of its own.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <tessera/tessera.h>

#include "opencl/faulty_driver.h"
#include "support/child_process.h"
#include "support/scratch_folder.h"

namespace tessera::fault {
namespace {

using testing_support::ChildResult;

/// The number behind `name` in what a start has printed; -1 if it is not there.
long number_behind(const std::string& name, const std::string& text) {
  const auto at = text.find(name + " ");
  return at == std::string::npos ? -1 : std::atol(text.c_str() + at + name.size() + 1);
}

class OpenclSecondStartTest : public testing::Test {
 protected:
  OpenclSecondStartTest() { std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all); }
  [[nodiscard]] ChildResult start() const {
    return testing_support::run_child(
        testing_support::this_program(),
        {"--gtest_also_run_disabled_tests", "--gtest_filter=OpenclSecondStartTest.DISABLED_start"},
        {{"TESSERA_CACHE_DIR", folder_.path()}, {"POCL_CACHE_DIR", folder_.path()}});
  }
  testing_support::ScratchFolder folder_;
};

/// Run by the test below alone: an operator of each kind and a kernel of the program's own.
TEST_F(OpenclSecondStartTest, DISABLED_start) {
  const Device device = tessera::open("opencl:0");
  const auto product = device.kernel(Gemm{.m = 65, .n = 33, .k = 17});
  const auto layer = device.kernel(CnnLayer{
      .input_channels = 3, .output_channels = 4, .height = 12, .width = 12, .filter_height = 3, .filter_width = 3});
  const auto filtered =
      device.kernel(Conv2d{.height = 9, .width = 9, .filter_height = 1, .filter_width = 3, .filter = {1, 2, 1}});
  const auto own = device.compile({.name = "twice",
                                   .parameters = {output<float>("x")},
                                   .opencl = "kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }"});
  const auto x = device.upload<float>(std::vector<float>{1, 2, 3, 4});
  Queue queue(device);
  queue.launch(own, {.groups = {1}, .group_size = {4}}, x);
  queue.finish();
  std::printf("from_source %ld from_cache %ld\n", faulty_driver().calls_of("clCreateProgramWithSource"),
              faulty_driver().calls_of("clCreateProgramWithBinary"));
}

TEST_F(OpenclSecondStartTest, compiles_nothing) {
  const ChildResult first = start();
  ASSERT_EQ(first.status, 0) << first.output;
  EXPECT_GE(number_behind("from_source", first.output), 4) << first.output;
  const std::set<std::string> written = folder_.files();
  EXPECT_GE(written.size(), 4U);
  const ChildResult second = start();
  ASSERT_EQ(second.status, 0) << second.output;
  EXPECT_EQ(folder_.files(), written);
  EXPECT_EQ(number_behind("from_source", second.output), 0) << second.output;
  EXPECT_GE(number_behind("from_cache", second.output), 4) << second.output;
}

}  // namespace
}  // namespace tessera::fault
