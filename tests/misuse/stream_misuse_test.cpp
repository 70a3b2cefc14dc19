// Wrong use of stream(), and of the slabs that it is made of, on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

static_assert(!std::is_convertible_v<const std::vector<float>&, HostOperand>, "results are not constant");
static_assert(!std::is_convertible_v<std::vector<float>, HostOperand>, "results do not go into a temporary");
static_assert(std::is_convertible_v<const std::vector<float>&, ConstHostOperand>);
static_assert(std::is_convertible_v<std::vector<float>&, HostOperand>);
static_assert(std::is_convertible_v<std::span<float>, HostOperand>);
static_assert(std::is_convertible_v<const PinnedBuffer<float>&, ConstHostOperand>);
static_assert(std::is_convertible_v<PinnedBuffer<float>&, HostOperand>);

class StreamMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(problem_, device()).empty()) GTEST_SKIP() << GetParam() << " offers no variant of kernel_regression";
  }
  [[nodiscard]] KernelRegression::HostOperands operands() {
    return {.queries = queries_,
            .training = training_,
            .targets = targets_,
            .values = values_,
            .nearest_row = rows_,
            .nearest_squared = squared_};
  }
  /// Nothing is written.
  template <class Change>
  void expect_stream_refused(const Change& change, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    KernelRegression problem = problem_;
    KernelRegression::HostOperands wrong = operands();
    StreamOptions options;
    change(problem, wrong, options);
    expect_refused(refusal_of([&] { static_cast<void>(stream(device(), problem, wrong, options)); }), parts);
    EXPECT_EQ(values_, std::vector<float>(2, -3.0F)) << "a refused stream wrote";
  }

  using Problem = KernelRegression;
  using Operands = KernelRegression::HostOperands;

  KernelRegression problem_{.training_rows = 4, .columns = 3, .queries = 2, .nearest = true};
  std::vector<float> queries_ = std::vector<float>(6, 1.0F);
  std::vector<float> training_ = std::vector<float>(12, 1.0F);
  std::vector<float> targets_ = std::vector<float>(4, 1.0F);
  std::vector<float> values_ = std::vector<float>(2, -3.0F);
  std::vector<std::int64_t> rows_ = std::vector<std::int64_t>(2);
  std::vector<float> squared_ = std::vector<float>(2);
};
TESSERA_ON_EACH_DEVICE(StreamMisuseTest);

TEST_P(StreamMisuseTest, wrong_operands) {
  std::vector<double> doubles(12);
  const std::span<float> nowhere(static_cast<float*>(nullptr), 0);
  expect_stream_refused([](Problem&, Operands& o, StreamOptions&) { o.queries = {}; }, {"operand queries", "missing"});
  expect_stream_refused([](Problem&, Operands& o, StreamOptions&) { o.nearest_row = {}; }, {"nearest_row", "missing"});
  expect_stream_refused([&](Problem&, Operands& o, StreamOptions&) { o.training = doubles; },
                        {"operand training", "float64", "float32"});
  expect_stream_refused([&](Problem&, Operands& o, StreamOptions&) { o.training = std::span(training_).first(11); },
                        {"operand training", "11 elements", "at least 12"});
  expect_stream_refused([&](Problem&, Operands& o, StreamOptions&) { o.targets = nowhere; },
                        {"operand targets", "0 elements", "at least 4"});
  expect_stream_refused([&](Problem&, Operands& o, StreamOptions&) { o.neighbours = squared_; },
                        {"operand neighbours", "2 elements", "the problem has no neighbours"});
  expect_stream_refused([&](Problem&, Operands& o, StreamOptions&) { o.nearest_squared = values_; },
                        {"operand values", "overlaps operand nearest_squared"});
  expect_stream_refused([&](Problem&, Operands& o, StreamOptions&) { o.values = std::span(training_).last(2); },
                        {"operand values", "overlaps operand training"});
}

TEST_P(StreamMisuseTest, wrong_problems_and_options) {
  expect_stream_refused([](Problem& p, Operands&, StreamOptions&) { p.columns = 0; },
                        {"columns of kernel_regression is 0", "at least 1"});
  expect_stream_refused([](Problem& p, Operands& o, StreamOptions&) { p.is_slab = true, o.training = {}; },
                        {"operand training", "missing"});
  expect_stream_refused([](Problem&, Operands&, StreamOptions& s) { s.kernel.variant = "fastest"; }, {"fastest"});
  expect_stream_refused([](Problem&, Operands&, StreamOptions& s) { s.memory_bytes = 1000; },
                        {"4 training rows and 2 queries at a time", "bytes on " + GetParam(), "training 512",
                         "but memory_bytes is 1000"});
  const std::vector<float> with_centre(static_cast<std::size_t>((2048 + 4) * 3), 1.0F);
  expect_stream_refused([&](Problem& p, Operands& o, StreamOptions&) { p.is_slab = true, o.training = with_centre; },
                        {"a slab of kernel_regression already"});
  Device gone = fresh_device();
  const Device taken = std::move(gone);
  expect_refused(refusal_of([&] { static_cast<void>(stream(gone, problem_, operands())); }), {"moved from"});
}

TEST_P(StreamMisuseTest, a_limit_below_the_smallest_slab) {
  constexpr std::int64_t kRows = 3 * KernelRegression::kSlabRows;
  const std::vector<std::uint8_t> training(kRows * 3);
  const std::vector<float> targets(kRows);
  const std::vector<std::uint8_t> queries(6);
  std::vector<std::int64_t> squared(2);
  KernelRegression problem = problem_;
  problem.training_rows = kRows;
  problem.type = DataType::uint8;
  problem.is_slab = true;
  bool goes_on = false;
  for (const VariantReport& report : explain(problem, device())) goes_on = goes_on || report.can_run;
  if (!goes_on) GTEST_SKIP() << GetParam() << " has no variant that goes on from slab to slab";
  problem.is_slab = false;
  const KernelRegression::HostOperands all{.queries = queries,
                                           .training = training,
                                           .targets = targets,
                                           .values = values_,
                                           .nearest_row = rows_,
                                           .nearest_squared = squared};
  expect_refused(refusal_of([&] { static_cast<void>(stream(device(), problem, all, {.memory_bytes = 20001})); }),
                 {"4096 training rows and 2 queries at a time", "training 2 x 12288", "targets 2 x 16384",
                  "but memory_bytes is 20001"});
  EXPECT_EQ(values_, std::vector<float>(2, -3.0F)) << "a refused stream wrote";
}

TEST_P(StreamMisuseTest, slabs_by_hand) {
  KernelRegression slab{.training_rows = 4, .columns = 3, .queries = 2, .is_slab = true, .type = DataType::uint8};
  bool goes_on = false;
  for (const VariantReport& report : explain(slab, device())) goes_on = goes_on || report.can_run;
  if (!goes_on) GTEST_SKIP() << GetParam() << " has no variant that goes on from slab to slab";
  const auto queries = device().allocate<std::uint8_t>(6), training = device().allocate<std::uint8_t>(12);
  const auto targets = device().allocate<float>(4), values = device().allocate<float>(2);
  const auto states = device().allocate<double>(2 * 12);
  Queue queue(device());
  const auto refused = [&](const ConstOperand& before, const Operand& after, const std::vector<std::string>& parts) {
    const auto kernel = device().kernel(slab);
    expect_refused(refusal_of([&] {
                     queue.run(kernel, {.queries = queries,
                                        .training = training,
                                        .targets = targets,
                                        .values = values,
                                        .before = before,
                                        .after = after});
                   }),
                   parts);
  };
  refused({}, states.view(0, 12), {"operand before", "nothing"});
  refused(states.view(0, 12), {}, {"operand after", "nothing"});
  refused(states.view(0, 11), states.view(12, 12), {"operand before", "11 elements", "at least 12"});
  refused(states.view(0, 12), states.view(6, 12), {"operand after", "overlaps operand before"});
  slab.is_slab = false;
  refused(states.view(0, 12), {}, {"operand before", "the problem has no before"});
  // Floats come with the rows of which the mean is taken.
  slab.is_slab = true;
  slab.type = DataType::float32;
  EXPECT_EQ(slab.centre_rows(), KernelRegression::kCentreRows);
}

TEST_P(StreamMisuseTest, slabs_of_a_volume_by_hand) {
  // References stand at 0, 4, 8 and 9 of 12 slices, with windows from 2 before to 2 behind.
  const PatchMatch whole{.size = {5, 5, 12}, .patch = {2, 2, 3}, .window = {3, 3, 5}, .step = {1, 1, 4}};
  if (explain(whole, device()).empty()) GTEST_SKIP() << GetParam() << " offers no variant of patch_match";
  const auto refused = [&](const PatchSlab& slab, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    PatchMatch problem = whole;
    problem.slab = slab;
    expect_refused(refusal_of([&] { static_cast<void>(device().kernel(problem)); }), parts);
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  refused({.first_slice = 0, .slices = 12, .first_reference = 3, .references = 2}, {"references 3 + 2", "has 4 along"});
  refused({.first_slice = 0, .slices = 12, .first_reference = -1, .references = 2}, {"references -1 + 2"});
  refused({.first_slice = 0, .slices = 12, .first_reference = 0, .references = 0}, {"references 0 + 0"});
  refused({.first_slice = 0, .slices = 12, .first_reference = kMost, .references = kMost}, {"has 4 along"});
  refused({.first_slice = 1, .slices = 12, .first_reference = 2, .references = 1}, {"slices 1 + 12", "has 12"});
  refused({.first_slice = kMost, .slices = kMost, .first_reference = 2, .references = 1}, {"has 12"});
  refused({.first_slice = 0, .slices = 0, .first_reference = 2, .references = 1}, {"slices 0 + 0"});
  refused({.first_slice = 3, .slices = 6, .first_reference = 1, .references = 1}, {"slices 3 to 8", "from 2 to 8"});
  refused({.first_slice = 2, .slices = 6, .first_reference = 1, .references = 1}, {"slices 2 to 7", "from 2 to 8"});
  PatchMatch right = whole;
  right.slab = {.first_slice = 2, .slices = 7, .first_reference = 1, .references = 1};
  EXPECT_EQ(device().kernel(right).problem().references(), (PerAxis{4, 4, 1}));
}

TEST_P(StreamMisuseTest, right_operands_are_taken) {
  const StreamReport report = stream(device(), problem_, operands());
  EXPECT_EQ(values_, std::vector<float>(2, 1.0F));
  EXPECT_EQ(rows_, std::vector<std::int64_t>(2, 0));
  EXPECT_EQ(report.slabs.size(), 1U);
  KernelRegression nothing = problem_;
  nothing.queries = 0;
  EXPECT_TRUE(stream(device(), nothing, operands()).slabs.empty());
}

}  // namespace
}  // namespace tessera::testing_support
