// The plain kernels of gemm and conv2d take the shape of their block from two tunables: a group of exactly as many
// work-items must run, which the launch is asked after, since a driver may allow a compiled kernel fewer than its
// device.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"
#include "conformance/tunings.h"
#include "each_device.h"

namespace tessera::testing_support {
namespace {

class PlainBlockTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(PlainBlockTest);

const conformance::Case* small_case(std::string_view operator_name) {
  for (const conformance::ProblemSet& set : conformance::problem_sets()) {
    if (set.operator_name != operator_name) continue;
    for (const auto& problem : set.cases) {
      if (problem->tries_every_tuning() && problem->type() == DataType::float32) return problem.get();
    }
  }
  return nullptr;
}

/// The work-items of the largest group that one run launches; 0 where the driver does not say.
std::uint64_t group_size_of_run(const conformance::Case& problem, const Device& device, const Tuning& tuning) {
  const std::unique_ptr<conformance::Run> run = problem.prepare(device, {.variant = "naive", .tuning = tuning});
  Queue queue(device);
  run->reset(queue);
  queue.watch_launches();
  run->enqueue(queue);
  std::uint64_t most = 0;
  for (const LaunchFacts& facts : queue.watched_launches()) most = std::max(most, facts.group_size);
  const conformance::Outcome outcome = run->check(queue);
  EXPECT_TRUE(outcome.passed) << outcome.failure;
  return most;
}

TEST_P(PlainBlockTest, is_the_group_that_runs) {
  int tried = 0;
  for (const std::string_view operator_name : {Gemm::kName, Conv2d::kName}) {
    const conformance::Case* const problem = small_case(operator_name);
    ASSERT_NE(problem, nullptr) << operator_name;
    for (const VariantReport& report : problem->explain(device())) {
      if (report.variant != "naive" || !report.can_run) continue;
      for (const Tuning& tuning : conformance::each_value(report.tunables)) {
        const auto columns = tuning.find("block_columns");
        if (columns == tuning.end()) continue;
        const auto wanted = static_cast<std::uint64_t>(columns->second * tuning.at("block_rows"));
        if (wanted > device().info().max_group_size) continue;  // what is preferred comes down to what a device has
        SCOPED_TRACE(std::string(operator_name) + ", a group of " + std::to_string(wanted));
        const std::uint64_t size = group_size_of_run(*problem, device(), tuning);
        if (size == 0) continue;
        EXPECT_EQ(size, wanted);
        ++tried;
      }
    }
  }
  if (tried == 0) GTEST_SKIP() << GetParam() << " has no blocks, or tells no launches";
}

}  // namespace
}  // namespace tessera::testing_support
