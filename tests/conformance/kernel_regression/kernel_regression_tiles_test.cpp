// kernel_regression's "fused", "fused_split" and variants of bytes in tiles meet training rows in an order of
// their own, block by block, whatever the tile is in which distances are computed: their results have the same bits for
// every tuning value.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "conformance/problem_set.h"
#include "conformance/tunings.h"
#include "each_device.h"

namespace tessera::testing_support {
namespace {

class RegressionTilesTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(RegressionTilesTest);

/// Those on which every tuning value is tried anyway, and those of several blocks of rows.
bool is_taken(const conformance::Case& problem) {
  const bool has_blocks = problem.name().find("_n4099_") != std::string_view::npos;
  return problem.purpose() == conformance::Purpose::conformance && (problem.tries_every_tuning() || has_blocks);
}

std::vector<std::byte> bits_of_tuning(const conformance::Case& problem, const Device& device,
                                      const std::string& variant, const Tuning& tuning) {
  const std::unique_ptr<conformance::Run> run = problem.prepare(device, {.variant = variant, .tuning = tuning});
  Queue queue(device);
  run->reset(queue);
  run->enqueue(queue);
  std::vector<std::byte> bits = run->output_bits(queue);
  queue.finish();
  return bits;
}

TEST_P(RegressionTilesTest, results_have_the_same_bits_for_any_tile) {
  constexpr std::size_t kMostCombinations = 64;
  int compared = 0;
  for (const conformance::ProblemSet& set : conformance::problem_sets()) {
    if (set.operator_name != KernelRegression::kName) continue;
    for (const auto& problem : set.cases) {
      if (!is_taken(*problem)) continue;
      for (const VariantReport& report : problem->explain(device())) {
        const bool promises = report.variant.starts_with("fused") || report.variant.starts_with("exact_bytes");
        if (!promises || !report.can_run || report.tunables.empty()) continue;
        const std::vector<Tuning> tunings = conformance::all_combinations(report.tunables, kMostCombinations);
        const std::vector<std::byte> first = bits_of_tuning(*problem, device(), report.variant, tunings.front());
        for (std::size_t i = 1; i < tunings.size(); ++i) {
          SCOPED_TRACE(testing::Message() << problem->name() << ", " << report.variant << ", tuning " << i);
          EXPECT_TRUE(bits_of_tuning(*problem, device(), report.variant, tunings[i]) == first);
          ++compared;
        }
      }
    }
  }
  if (compared == 0) GTEST_SKIP() << GetParam() << " offers no tiles to choose from";
}

}  // namespace
}  // namespace tessera::testing_support
