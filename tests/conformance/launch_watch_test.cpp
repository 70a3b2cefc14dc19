// What a queue says of the kernel functions that it launched: on every device the numbers fit the launches, and where a
// driver tells nothing there are none.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "each_device.h"
#include "own_kernels.h"

namespace tessera::testing_support {
namespace {

constexpr std::size_t kItems = 256;
constexpr std::size_t kGroupSize = 64;

class LaunchWatchTest : public EachDevice {
 protected:
  void SetUp() override {
    try {
      kernel_.emplace(device().compile(group_sum_source()));
    } catch (const Error& error) {
      GTEST_SKIP() << error.sentence();
    }
  }
  void launch(Queue& queue, std::uint64_t groups) const {
    queue.launch(*kernel_, {.groups = {groups}, .group_size = {kGroupSize}}, x_, sums_,
                 local_memory<std::int32_t>(kGroupSize), static_cast<std::int64_t>(kItems));
  }

  std::optional<OwnKernel> kernel_;
  const std::vector<std::int32_t> ones_ = std::vector<std::int32_t>(kItems, 1);
  Buffer<std::int32_t> x_ = device().upload<std::int32_t>(ones_);
  Buffer<std::int32_t> sums_ = device().allocate<std::int32_t>(kItems / kGroupSize);
};
TESSERA_ON_EACH_DEVICE(LaunchWatchTest);

TEST_P(LaunchWatchTest, tells_of_launches_while_it_watches) {
  Queue queue(device());
  launch(queue, 1);
  queue.watch_launches();
  launch(queue, 2);
  launch(queue, kItems / kGroupSize);
  const std::vector<LaunchFacts> facts = queue.watched_launches();
  launch(queue, 1);
  EXPECT_TRUE(queue.watched_launches().empty()) << "the watch has ended";
  queue.finish();
  if (takes_functions(device())) {
    EXPECT_TRUE(facts.empty()) << "a function of the program has no driver that could tell of it";
    return;
  }
  ASSERT_EQ(facts.size(), 1U) << "one function, one size of group";
  EXPECT_EQ(facts[0].launches, 2U);
  EXPECT_EQ(facts[0].groups, kItems / kGroupSize);
  EXPECT_EQ(facts[0].group_size, kGroupSize);
  if (!facts[0].function.empty()) {
    EXPECT_EQ(facts[0].function, group_sum_source().name);
  }
  if (facts[0].local_memory_bytes) {
    EXPECT_GE(*facts[0].local_memory_bytes, kGroupSize * sizeof(std::int32_t));
  }
  if (facts[0].registers) {
    EXPECT_GT(*facts[0].registers, 0U);
  }
  EXPECT_EQ(facts[0].groups_per_unit.has_value(), facts[0].occupancy.has_value());
  if (facts[0].occupancy) {
    EXPECT_GT(*facts[0].occupancy, 0.0);
    EXPECT_LE(*facts[0].occupancy, 1.0);
  }
  if (device().info().backend == "cuda") {
    EXPECT_TRUE(facts[0].registers && facts[0].occupancy) << "CUDA's driver tells both";
  }
}

}  // namespace
}  // namespace tessera::testing_support
