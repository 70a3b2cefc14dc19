// On the CPU a result's bits must not depend on the number of threads: work is cut into pieces that may, but what is
// computed for an element may not. Every own variant of every operator, on cases that are worth several threads.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/problem_set.h"
#include "each_device.h"
#include "support/one_of.h"

namespace tessera::testing_support {
namespace {

using conformance::Case;
using conformance::Purpose;

class ThreadCountTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(ThreadCountTest);

/// 256 cubed.
constexpr double kMostFlops = 4e7;
/// Of conformance cases, the larger ones.
constexpr double kLeastFlops = 2e7;
constexpr int kThreadCounts[] = {2, 3, 16};

std::vector<const Case*> cases() {
  std::vector<const Case*> found;
  for (const conformance::ProblemSet& set : conformance::problem_sets()) {
    for (const auto& problem : set.cases) {
      const double flops = problem->work().flops;
      const bool is_large = problem->purpose() == Purpose::benchmark || problem->purpose() == Purpose::quick_study ||
                            (problem->purpose() == Purpose::conformance && flops >= kLeastFlops);
      if (is_large && flops <= kMostFlops) found.push_back(problem.get());
    }
  }
  return found;
}

/// Nothing where the device has no such option.
std::optional<Device> opened_with_threads(const std::string& id, int threads) {
  try {
    return open(id + "?threads=" + std::to_string(threads));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return std::nullopt;
  }
}

std::vector<std::byte> bits_of(const Case& problem, const Device& device, const std::string& variant) {
  const std::unique_ptr<conformance::Run> run = problem.prepare(device, {.variant = variant});
  Queue queue(device);
  run->reset(queue);
  run->enqueue(queue);
  std::vector<std::byte> bits = run->output_bits(queue);
  queue.finish();
  return bits;
}

TEST_P(ThreadCountTest, results_have_the_same_bits_for_any_number) {
  const std::optional<Device> alone = opened_with_threads(GetParam(), 1);
  if (!alone) GTEST_SKIP() << GetParam() << " is not opened with a thread count";
  std::vector<Device> several;
  for (const int threads : kThreadCounts) several.push_back(opened_with_threads(GetParam(), threads).value());
  int met = 0;
  int compared = 0;
  for (const Case* problem : cases()) {
    for (const VariantReport& report : problem->explain(*alone)) {
      if (!report.can_run || report.variant.starts_with("vendor_") || met++ % one_of() != 0) continue;
      const std::vector<std::byte> expected = bits_of(*problem, *alone, report.variant);
      for (std::size_t i = 0; i < several.size(); ++i) {
        EXPECT_TRUE(bits_of(*problem, several[i], report.variant) == expected)
            << problem->name() << ", " << report.variant << ", " << kThreadCounts[i] << " threads";
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace tessera::testing_support
