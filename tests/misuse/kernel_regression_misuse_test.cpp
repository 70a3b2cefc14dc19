// Wrong problems, operands and prepared training sets of kernel_regression on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "each_device.h"
#include "wrong_options.h"

namespace tessera::testing_support {
namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kLargest = std::to_string(std::int64_t{1} << 48) + " bytes";

/// 4 rows of 3 numbers, 2 queries.
KernelRegression small_regression() {
  return {.training_rows = 4, .columns = 3, .queries = 2, .classes = 2, .nearest = true, .neighbours = true};
}

class KernelRegressionMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(small_regression(), device()).empty())
      GTEST_SKIP() << GetParam() << " offers no variant of kernel_regression";
    queries_ = device().upload<float>(std::vector<float>(6, 1.0F));
    training_ = device().upload<float>(std::vector<float>(12, 1.0F));
    targets_ = device().upload<float>(std::vector<float>(4, 1.0F));
    values_ = device().upload<float>(std::vector<float>(2, -3.0F));
    votes_ = device().allocate<float>(4);
    nearest_row_ = device().allocate<std::int64_t>(2);
    nearest_squared_ = device().allocate<float>(2);
    neighbours_ = device().allocate<float>(2);
  }
  [[nodiscard]] KernelRegression::Operands operands() const {
    return {.queries = queries_,
            .training = training_,
            .targets = targets_,
            .values = values_,
            .votes = votes_,
            .nearest_row = nearest_row_,
            .nearest_squared = nearest_squared_,
            .neighbours = neighbours_};
  }
  void expect_refused(const Refusal& refusal, const std::vector<std::string>& parts) {
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    for (const std::string& part : parts) EXPECT_TRUE(contains(refusal.sentence, part));
  }
  /// The run is refused, nothing is written, and the queue goes on.
  void expect_run_refused(const KernelRegression::Operands& operands, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    Queue queue(device());
    const auto kernel = device().kernel(small_regression());
    expect_refused(refusal_of([&] { queue.run(kernel, operands); }), parts);
    EXPECT_EQ(queue.download(values_).get(), std::vector<float>(2, -3.0F)) << "a refused run wrote";
    queue.finish();
  }

  Buffer<float> queries_;
  Buffer<float> training_;
  Buffer<float> targets_;
  Buffer<float> values_;
  Buffer<float> votes_;
  Buffer<std::int64_t> nearest_row_;
  Buffer<float> nearest_squared_;
  Buffer<float> neighbours_;
};
TESSERA_ON_EACH_DEVICE(KernelRegressionMisuseTest);

TEST_P(KernelRegressionMisuseTest, wrong_problems) {
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    KernelRegression problem = small_regression();
    change(problem);
    expect_refused(refusal_of([&] { static_cast<void>(device().kernel(problem)); }), parts);
    expect_refused(refusal_of([&] { static_cast<void>(explain(problem, device())); }), parts);
  };
  using Problem = KernelRegression;
  refused([](Problem& p) { p.training_rows = 0; }, {"training_rows of kernel_regression is 0", "at least 1"});
  refused([](Problem& p) { p.columns = -1; }, {"columns of kernel_regression is -1", "at least 1"});
  refused([](Problem& p) { p.queries = -1; }, {"queries of kernel_regression is -1", "at least 0"});
  refused([](Problem& p) { p.outputs = 0; }, {"outputs of kernel_regression is 0", "at least 1"});
  refused([](Problem& p) { p.classes = -2; }, {"classes of kernel_regression is -2", "at least 0"});
  refused([](Problem& p) { p.set_rows = -1; }, {"set_rows of kernel_regression is -1", "at least 0"});
  refused([](Problem& p) { p.set_rows = 100; }, {"set_rows of kernel_regression is 100", "must be 0"});
  refused([](Problem& p) { p.is_slab = true, p.set_rows = p.training_rows - 1; },
          {"set_rows of kernel_regression is", "of a slab at least its"});
  refused([](Problem& p) { p.order = -1; }, {"order of kernel_regression is -1", "finite and at least 0"});
  refused([](Problem& p) { p.order = kNan; }, {"order of kernel_regression is nan"});
  refused([](Problem& p) { p.order = kInfinity; }, {"order of kernel_regression is inf"});
  refused([](Problem& p) { p.scale = 0; }, {"scale of kernel_regression is 0", "finite and above 0"});
  refused([](Problem& p) { p.scale = kInfinity; }, {"scale of kernel_regression is inf"});
  refused([](Problem& p) { p.distance = Distance{2}; }, {"distance of kernel_regression is the number 2", "squared"});
  refused([](Problem& p) { p.accuracy = Accuracy{9}; }, {"accuracy of kernel_regression is the number 9", "fast"});
  refused([](Problem& p) { p.type = DataType::int32; }, {"int32", "float32, float64 or uint8"});
  refused([](Problem& p) { p.training_rows = kLast / 2; }, {"operand training of kernel_regression", kLargest});
  refused([](Problem& p) { p.queries = 0, p.columns = kLast / 2; }, {"of kernel_regression", kLargest});
  refused([](Problem& p) { p.outputs = kLast / 8; }, {"operand targets of kernel_regression", kLargest});
  refused([](Problem& p) { p.classes = kLast / 8; }, {"operand votes of kernel_regression", kLargest});
  refused([](Problem& p) { p.queries = p.training_rows = std::int64_t{1} << 31; },
          {"operand distances of kernel_regression", kLargest});
}

TEST_P(KernelRegressionMisuseTest, wrong_operands) {
  const auto doubles = device().allocate<double>(12);
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    KernelRegression::Operands wrong = operands();
    change(wrong);
    expect_run_refused(wrong, parts);
  };
  using Operands = KernelRegression::Operands;
  refused([&](Operands& o) { o.queries = queries_.view(0, 5); }, {"operand queries", "5 elements", "at least 6"});
  refused([&](Operands& o) { o.queries = doubles; }, {"operand queries", "float64", "float32"});
  refused([&](Operands& o) { o.training = training_.view(0, 11); }, {"operand training", "11 elements", "at least 12"});
  refused([](Operands& o) { o.training = {}; }, {"operand training", "nothing"});
  refused([](Operands& o) { o.targets = {}; }, {"operand targets", "nothing"});
  refused([](Operands& o) { o.votes = {}; }, {"operand votes", "nothing"});
  refused([&](Operands& o) { o.votes = votes_.view(0, 3); }, {"operand votes", "3 elements", "at least 4"});
  refused([&](Operands& o) { o.nearest_row = neighbours_; }, {"operand nearest_row", "float32", "int64"});
  refused([&](Operands& o) { o.neighbours = nearest_squared_; }, {"operand nearest_squared", "neighbours", "overlap"});
  refused([&](Operands& o) { o.targets = values_; }, {"operand targets", "2 elements", "at least 4"});
  refused([&](Operands& o) { o.values = training_.untyped().as_const(); }, {"operand values", "read-only"});
  KernelRegression plain = small_regression();
  plain.neighbours = false;
  Queue queue(device());
  const auto kernel = device().kernel(plain);
  expect_refused(refusal_of([&] { queue.run(kernel, operands()); }), {"operand neighbours"});
}

TEST_P(KernelRegressionMisuseTest, what_is_not_wanted_may_be_left_out) {
  KernelRegression problem = small_regression();
  problem.classes = 0;
  problem.nearest = problem.neighbours = false;
  Queue queue(device());
  queue.run(device().kernel(problem),
            {.queries = queries_, .training = training_, .targets = targets_, .values = values_});
  EXPECT_EQ(queue.download(values_).get(), std::vector<float>(2, 1.0F));
}

TEST_P(KernelRegressionMisuseTest, wrong_options) {
  expect_wrong_options_refused(small_regression(), device(), GetParam());
}

}  // namespace
}  // namespace tessera::testing_support
