// What a study measures of transfers, on every device: operands from either kind of host memory are right when they
// come back, and what did not come back is seen. And one set of operands serves several kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "conformance/problem_set.h"
#include "each_device.h"
#include "support/one_of.h"

namespace tessera::testing_support {
namespace {

using conformance::Case;
using conformance::HostMemory;
using conformance::Purpose;

class RoundTripTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(RoundTripTest);

/// The studies' cases in small, or a share of each operator's: a transfer does not ask what the kernel between does.
std::vector<const Case*> study_cases() {
  std::vector<const Case*> cases;
  for (const conformance::ProblemSet& set : conformance::problem_sets()) {
    int met = 0;
    for (const auto& problem : set.cases) {
      if (problem->purpose() == Purpose::quick_study && met++ % one_of() == 0) cases.push_back(problem.get());
    }
  }
  return cases;
}

TEST_P(RoundTripTest, brings_right_results_from_ordinary_and_pinned_memory) {
  int trips = 0;
  for (const Case* problem : study_cases()) {
    for (const HostMemory memory : {HostMemory::ordinary, HostMemory::pinned}) {
      SCOPED_TRACE(testing::Message() << problem->name() << ", " << to_string(memory));
      const auto trip = problem->round_trip(device(), {}, memory);
      if (!trip) continue;
      ++trips;
      EXPECT_GT(trip->upload_bytes(), 0U);
      EXPECT_GT(trip->download_bytes(), 0U);
      Queue queue(device());
      for (int round = 0; round < 2; ++round) {
        trip->reset(queue);
        trip->upload(queue);
        trip->enqueue(queue);
        trip->download(queue);
        queue.finish();
        const conformance::Outcome outcome = trip->check(queue);
        EXPECT_TRUE(outcome.passed) << outcome.failure;
      }
      trip->reset(queue);
      EXPECT_FALSE(trip->check(queue).passed) << "nothing was downloaded, but an old result passes";
    }
  }
  EXPECT_GT(trips, 0);
}

/// Of each operator, of the small cases that variants are tried on the one with work that most variants take, and of
/// these the smallest.
std::vector<const Case*> reference_cases(const Device& device) {
  std::vector<const Case*> cases;
  for (const conformance::ProblemSet& set : conformance::problem_sets()) {
    const Case* best = nullptr;
    std::ptrdiff_t most = 0;
    for (const auto& problem : set.cases) {
      if (!problem->tries_every_tuning() || problem->purpose() == Purpose::study || problem->work().flops == 0)
        continue;
      const std::vector<VariantReport> reports = problem->explain(device);
      const auto takers = std::count_if(reports.begin(), reports.end(), [](const auto& row) { return row.can_run; });
      if (takers < most || (takers == most && best != nullptr && problem->work().flops >= best->work().flops)) continue;
      best = problem.get();
      most = takers;
    }
    if (best != nullptr) cases.push_back(best);
  }
  return cases;
}

TEST_P(RoundTripTest, runs_other_kernels_on_the_same_operands) {
  for (const Case* problem : reference_cases(device())) {
    SCOPED_TRACE(problem->name());
    std::vector<std::string> variants;
    for (const VariantReport& report : problem->explain(device())) {
      if (report.can_run) variants.push_back(report.variant);
    }
    if (variants.empty()) continue;  // floors are held elsewhere
    const auto run = problem->prepare(device(), {.variant = variants.front()});
    const auto twin = run->twin(device());
    Queue queue(device());
    run->reset(queue);
    twin->reset(queue);
    for (const std::string& variant : variants) {
      SCOPED_TRACE(variant);
      run->change_kernel(device(), {.variant = variant});
      twin->share_kernel(*run);
      for (const auto& one : {run.get(), twin.get()}) {
        EXPECT_EQ(one->info().variant, variant);
        one->enqueue(queue);  // a benchmark goes on like this, from the second kernel on
        one->reset(queue);
        one->enqueue(queue);
        const conformance::Outcome outcome = one->check(queue);
        EXPECT_TRUE(outcome.passed) << outcome.failure;
      }
      EXPECT_TRUE(run->output_bits(queue) == twin->output_bits(queue)) << "the same operands give other bits";
    }
    const Refusal refusal = refusal_of([&] { run->change_kernel(device(), {.variant = "no_such_variant"}); });
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    EXPECT_EQ(run->info().variant, variants.back());
  }
}

}  // namespace
}  // namespace tessera::testing_support
