// Wrong problems, options and operands of conv2d on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "each_device.h"
#include "wrong_options.h"

namespace tessera::testing_support {
namespace {

/// 5 x 6 images and a 3 x 3 filter of rank 3.
Conv2d right_problem(DataType type = DataType::float32) {
  return {.height = 5,
          .width = 6,
          .filter_height = 3,
          .filter_width = 3,
          .filter = {1, 2, 3, 4, 6, 5, 9, 7, 8},
          .type = type};
}

class Conv2dMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(right_problem(), device()).empty()) GTEST_SKIP() << GetParam() << " offers no variant of conv2d";
  }
};
TESSERA_ON_EACH_DEVICE(Conv2dMisuseTest);

struct WrongProblem {
  Conv2d problem;
  std::vector<std::string> parts;  // of the sentence: the value, the limit, the name
};

std::vector<WrongProblem> wrong_problems() {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
  const std::string largest = std::to_string(std::int64_t{1} << 48) + " bytes";
  const auto wrong = [](const auto& change, DataType type = DataType::float32) {
    Conv2d problem = right_problem(type);
    change(problem);
    return problem;
  };
  return {
      {wrong([](Conv2d& p) { p.height = -1; }), {"height of conv2d is -1", "at least 0"}},
      {wrong([](Conv2d& p) { p.width = std::numeric_limits<std::int64_t>::min(); }),
       {"width of conv2d is -9223372036854775808", "at least 0"}},
      {wrong([](Conv2d& p) { p.batch = -7; }), {"batch of conv2d is -7", "at least 0"}},
      {wrong([](Conv2d& p) { p.filter_height = 0; }), {"filter_height of conv2d is 0", "at least 1"}},
      {wrong([](Conv2d& p) { p.filter_width = 64; }), {"filter_width of conv2d is 64", "at most 63"}},
      {wrong([](Conv2d& p) { p.type = DataType::float64; }), {"float64", "uint8, int16, int32 or float32"}},
      {wrong([](Conv2d& p) { p.border = Border{2}; }), {"border of conv2d is the number 2", "same or valid"}},
      {wrong([](Conv2d& p) { p.accuracy = Accuracy{255}; }), {"accuracy of conv2d is the number 255", "fast"}},
      {wrong([](Conv2d& p) { p.filter.pop_back(); }), {"8 values", "3 * 3 = 9"}},
      {wrong([](Conv2d& p) { p.filter[4] = std::nan(""); }), {"filter(1, 1) of conv2d is nan", "finite"}},
      {wrong([](Conv2d& p) { p.filter[8] = 1e39; }), {"filter(2, 2) of conv2d is 1e+39", "3.40282e+38"}},
      {wrong([](Conv2d& p) { p.filter[3] = 0.25; }, DataType::int16), {"filter(1, 0) of conv2d is 0.25", "int16"}},
      {wrong([](Conv2d& p) { p.filter[0] = 1e10; }, DataType::uint8), {"filter(0, 0) of conv2d is 1e+10", "uint8"}},
      {wrong([](Conv2d& p) { p.anchor_y = 3; }), {"anchor_y of conv2d is 3", "filter_height = 3", "kCentre"}},
      {wrong([](Conv2d& p) { p.anchor_x = -2; }), {"anchor_x of conv2d is -2", "filter_width = 3"}},
      {wrong([](Conv2d& p) { p.height = 2, p.border = Border::valid; }),
       {"height of conv2d is 2", "border valid", "3"}},
      {wrong([](Conv2d& p) { p.width = 0, p.border = Border::valid; }), {"width of conv2d is 0", "border valid", "3"}},
      {wrong([](Conv2d& p) { p.height = p.width = kHuge; }), {"operand image", "1099511627776", largest}},
      {wrong([](Conv2d& p) { p.batch = kGreatest; }),
       {"operand image", std::to_string(kGreatest) + " images of 5 x 6"}},
      {wrong([](Conv2d& p) { p.height = 1, p.width = std::int64_t{1} << 47; }, DataType::uint8),
       {"operand output", "int32", largest}},
      {wrong([](Conv2d& p) { p.height = 0, p.width = kGreatest; }),
       {"operand image", std::to_string(kGreatest), largest}},
      {wrong([](Conv2d& p) { p.batch = 0, p.height = kHuge, p.width = kHuge; }), {"operand image", largest}},
  };
}

TEST_P(Conv2dMisuseTest, wrong_problems) {
  for (const WrongProblem& wrong : wrong_problems()) {
    SCOPED_TRACE(wrong.parts.front());
    expect_refused(refusal_of([&] { static_cast<void>(device().kernel(wrong.problem)); }), wrong.parts);
    expect_refused(refusal_of([&] { static_cast<void>(explain(wrong.problem, device())); }), wrong.parts);
  }
}

TEST_P(Conv2dMisuseTest, wrong_options) {
  expect_wrong_options_refused(right_problem(), device(), GetParam());
}

TEST_P(Conv2dMisuseTest, a_variant_that_cannot_is_not_forced) {
  Conv2d problem = right_problem();
  problem.filter_height = problem.filter_width = 9;
  for (int i = 9; i < 81; ++i) problem.filter.push_back(i * i % 17);
  std::size_t refused = 0;
  const std::vector<VariantReport> reports = explain(problem, device());
  for (const VariantReport& report : reports) {
    if (report.can_run) continue;
    ++refused;
    const Refusal refusal =
        refusal_of([&] { static_cast<void>(device().kernel(problem, {.variant = report.variant})); });
    EXPECT_EQ(refusal.code, ErrorCode::unsupported) << refusal.what;
    EXPECT_TRUE(contains(refusal.sentence, report.because));
    EXPECT_TRUE(contains(refusal.sentence, "'" + report.variant + "'"));
  }
  // A backend with one variant has to take everything with it.
  EXPECT_TRUE(refused > 0 || reports.size() == 1) << "no variant refuses a filter that is neither small nor of rank 1";
}

/// Operands of two uint8 images of 5 x 6; tests replace one of them.
class Conv2dOperandMisuseTest : public Conv2dMisuseTest {
 protected:
  using Pixels = std::vector<std::uint8_t>;
  using Sums = std::vector<std::int32_t>;

  void SetUp() override {
    Conv2dMisuseTest::SetUp();
    if (IsSkipped()) return;
    image_ = device().upload<std::uint8_t>(Pixels(60, 1));
    output_ = device().upload<std::int32_t>(Sums(60, -3));
  }
  [[nodiscard]] OperatorKernel<Conv2d> conv2d() const {
    Conv2d problem = right_problem(DataType::uint8);
    problem.batch = 2;
    return device().kernel(problem);
  }

  /// The run is refused, nothing is written, and the queue goes on.
  void expect_run_refused(const Conv2d::Operands& operands, const std::vector<std::string>& parts) {
    Queue queue(device());
    expect_refused(refusal_of([&] { queue.run(conv2d(), operands); }), parts);
    EXPECT_EQ(queue.download(output_).get(), Sums(60, -3)) << "a refused run wrote to the output";
    EXPECT_EQ(queue.download(image_).get(), Pixels(60, 1)) << "a refused run wrote to the image";
    queue.finish();
  }

  Buffer<std::uint8_t> image_;
  Buffer<std::int32_t> output_;
};
TESSERA_ON_EACH_DEVICE(Conv2dOperandMisuseTest);

TEST_P(Conv2dOperandMisuseTest, too_small) {
  expect_run_refused({.image = image_.view(0, 59), .output = output_}, {"operand image", "59 elements", "at least 60"});
  expect_run_refused({.image = image_, .output = output_.view(1, 59)},
                     {"operand output", "59 elements", "at least 60"});
  expect_run_refused({.image = device().allocate<std::uint8_t>(0), .output = output_}, {"operand image", "0 elements"});
}

TEST_P(Conv2dOperandMisuseTest, nothing_in_it) {
  const Buffer<std::uint8_t> never;
  expect_run_refused({.image = never, .output = output_}, {"operand image", "nothing"});
  expect_run_refused({.image = image_, .output = {}}, {"operand output", "nothing"});
  auto reset = device().allocate<std::uint8_t>(60);
  reset.reset();
  expect_run_refused({.image = reset, .output = output_}, {"operand image", "nothing"});
  auto moved = device().allocate<std::int32_t>(60);
  const auto taken = std::move(moved);
  expect_run_refused({.image = image_, .output = moved},
                     {"operand output", "moved from"});  // NOLINT(bugprone-use-after-move)
}

TEST_P(Conv2dOperandMisuseTest, of_the_wrong_type) {
  const auto words = device().allocate<std::int16_t>(60);
  const auto floats = device().allocate<float>(60);
  expect_run_refused({.image = words, .output = output_}, {"operand image", "int16", "uint8"});
  expect_run_refused({.image = output_, .output = output_}, {"operand image", "int32", "uint8"});
  expect_run_refused({.image = image_, .output = floats}, {"operand output", "float32", "int32"});
  expect_run_refused({.image = image_, .output = image_}, {"operand output", "uint8", "int32"});
}

TEST_P(Conv2dOperandMisuseTest, read_only_output) {
  expect_run_refused({.image = image_, .output = output_.untyped().as_const()}, {"operand output", "read-only"});
}

TEST_P(Conv2dOperandMisuseTest, overlapping_output) {
  const auto big = device().upload<std::int32_t>(Sums(90, 1));
  const auto kernel = device().kernel(right_problem(DataType::int32));
  Queue queue(device());
  const auto refused = [&](const Conv2d::Operands& operands, const std::vector<std::string>& parts) {
    expect_refused(refusal_of([&] { queue.run(kernel, operands); }), parts);
    EXPECT_EQ(queue.download(big).get(), Sums(90, 1));
  };
  refused({.image = big, .output = big}, {"operand output", "operand image", "overlap"});
  refused({.image = big.view(0, 30), .output = big.view(29, 30)}, {"from byte 116", "overlaps operand image"});
  refused({.image = big.view(40, 30), .output = big.view(11, 30)}, {"from byte 44", "from byte 160"});
  // Neighbours do not overlap.
  queue.run(kernel, {.image = big.view(0, 30), .output = big.view(30, 30)});
  const Sums found = queue.download(big).get();
  EXPECT_EQ(Sums(found.begin(), found.begin() + 30), Sums(30, 1));
  EXPECT_EQ(found[30 + 6 + 1], 45) << "all nine weights";
  EXPECT_EQ(found[30], 6 + 5 + 7 + 8) << "the corner's four weights";
  EXPECT_EQ(Sums(found.begin() + 60, found.end()), Sums(30, 1));
}

TEST_P(Conv2dOperandMisuseTest, of_another_device) {
  const Device again = fresh_device();
  expect_run_refused({.image = again.allocate<std::uint8_t>(60), .output = output_},
                     {"operand image", GetParam(), "another time"});
  for (const std::string& id : device_ids()) {
    if (id == GetParam()) continue;
    const auto elsewhere = shared_device(id).allocate<std::int32_t>(60);
    expect_run_refused({.image = image_, .output = elsewhere}, {"operand output", id, GetParam()});
  }
}

TEST_P(Conv2dOperandMisuseTest, a_queue_of_another_device) {
  const Device again = fresh_device();
  Queue queue(again);
  expect_refused(refusal_of([&] { queue.run(conv2d(), {.image = image_, .output = output_}); }),
                 {GetParam(), "another time"});
}

}  // namespace
}  // namespace tessera::testing_support
