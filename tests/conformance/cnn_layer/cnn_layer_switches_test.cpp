// The published study's findings are switches of cnn_layer's "subtile". The other tests try each of them beside
// preferred values; here those of the main loop are combined, since one may leave out what another relies on.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/problem_set.h"
#include "each_device.h"

namespace tessera::testing_support {
namespace {

class CnnLayerSwitchesTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(CnnLayerSwitchesTest);

constexpr std::array<std::string_view, 4> kSwitches{"filter_outermost", "unroll", "sums_zeroed", "sums_aligned"};

/// The switches to combine on a device: processors take seconds to compile each, so without the alignment there.
std::span<const std::string_view> switches_of(DeviceKind kind) {
  return std::span(kSwitches).first(kind == DeviceKind::gpu ? 4 : 3);
}

/// Every combination of those switches that the variant has, of a small sub-tile, which compiles in less time; of as
/// many channels as CUDA compiles in every form.
std::vector<Tuning> combinations(const std::vector<Tunable>& tunables, std::span<const std::string_view> switches) {
  if (std::ranges::none_of(tunables, [&](const Tunable& tunable) { return tunable.name == switches.front(); }))
    return {};
  std::vector<Tuning> all{{{"sub_channels", 8}, {"sub_rows", 2}, {"sub_columns", 2}}};
  for (const Tunable& tunable : tunables) {
    if (std::ranges::find(switches, tunable.name) == switches.end()) continue;
    std::vector<Tuning> longer;
    for (const std::int64_t value : tunable.values) {
      for (Tuning tuning : all) {
        tuning[tunable.name] = value;
        longer.push_back(std::move(tuning));
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// A layer with a pool, of more channels than a sub-tile and of no whole number of tiles.
const conformance::Case* pooled_case(DataType type) {
  for (const conformance::ProblemSet& set : conformance::problem_sets()) {
    if (set.operator_name != CnnLayer::kName) continue;
    for (const auto& problem : set.cases) {
      const bool is_pooled = problem->name().find("_pool2") != std::string_view::npos;
      if (problem->tries_every_tuning() && problem->type() == type && is_pooled) return problem.get();
    }
  }
  return nullptr;
}

TEST_P(CnnLayerSwitchesTest, are_right_together) {
  const conformance::Case* const problem = pooled_case(DataType::float32);
  ASSERT_NE(problem, nullptr);
  int tried = 0;
  for (const VariantReport& report : problem->explain(device())) {
    if (report.variant != "subtile" || !report.can_run) continue;
    for (const Tuning& tuning : combinations(report.tunables, switches_of(device().info().kind))) {
      std::string words;
      for (const auto& [name, value] : tuning) words += name + "=" + std::to_string(value) + " ";
      SCOPED_TRACE(words);
      const std::unique_ptr<conformance::Run> run =
          problem->prepare(device(), {.variant = report.variant, .tuning = tuning});
      Queue queue(device());
      run->reset(queue);
      run->enqueue(queue);
      const conformance::Outcome outcome = run->check(queue);
      EXPECT_TRUE(outcome.passed) << outcome.failure;
      ++tried;
    }
  }
  if (tried == 0) GTEST_SKIP() << GetParam() << " has no such switches";
}

}  // namespace
}  // namespace tessera::testing_support
