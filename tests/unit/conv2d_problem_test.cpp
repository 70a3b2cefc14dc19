// conv2d in the front half: what a correct problem is, the filter that backends get to see, and which operands it
// takes.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "expect_error.h"

namespace tessera {
namespace {

constexpr auto kCode = ErrorCode::invalid_argument;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 5 x 7 images and a filter of weights 1, 2, 3, ...
Conv2d small(std::int64_t filter_height, std::int64_t filter_width, DataType type = DataType::int32) {
  Conv2d problem{.height = 5,
                 .width = 7,
                 .filter_height = filter_height,
                 .filter_width = filter_width,
                 .filter = {},
                 .type = type};
  for (std::int64_t i = 0; i < filter_height * filter_width; ++i) problem.filter.push_back(static_cast<double>(i + 1));
  return problem;
}

/// small(3, 3) with something done to it.
template <class Change>
Conv2d changed(Change&& change, DataType type = DataType::int32) {
  Conv2d problem = small(3, 3, type);
  change(problem);
  return problem;
}

class Conv2dProblemTest : public ::testing::Test {
 protected:
  void make(const Conv2d& problem) const { (void)device_.kernel(problem); }
  [[nodiscard]] Conv2d checked(const Conv2d& problem) const { return device_.kernel(problem).problem(); }
  /// kernel() and explain() both refuse it, with these words.
  void expect_refused(const Conv2d& problem, const std::vector<std::string>& parts) const {
    testing::expect_error("kernel()", kCode, parts, [&] { (void)device_.kernel(problem); });
    testing::expect_error("explain()", kCode, parts, [&] { (void)explain(problem, device_); });
  }

  const Device device_ = open("minimal:0");
};

TEST_F(Conv2dProblemTest, wrong_sizes_are_refused_by_field) {
  expect_refused(changed([](Conv2d& p) { p.height = -1; }), {"height of conv2d is -1", "at least 0"});
  expect_refused(changed([](Conv2d& p) { p.width = -9; }), {"width of conv2d is -9", "at least 0"});
  expect_refused(changed([](Conv2d& p) { p.filter_height = 0; }), {"filter_height of conv2d is 0", "at least 1"});
  expect_refused(changed([](Conv2d& p) { p.filter_width = -3; }), {"filter_width of conv2d is -3", "at least 1"});
  expect_refused(changed([](Conv2d& p) { p.batch = -2; }), {"batch of conv2d is -2", "at least 0"});
  expect_refused(small(64, 1), {"filter_height of conv2d is 64", "at most 63"});
  expect_refused(small(1, 64), {"filter_width of conv2d is 64", "at most 63"});
  make(small(63, 63));
  make(changed([](Conv2d& p) { p.height = p.width = p.batch = 0; }));
}

TEST_F(Conv2dProblemTest, other_types_than_those_of_images_are_refused) {
  for (const DataType type :
       {DataType::int8, DataType::uint16, DataType::uint32, DataType::int64, DataType::uint64, DataType::float64}) {
    expect_refused(small(3, 3, type),
                   {"type of conv2d is " + std::string(to_string(type)), "uint8, int16, int32 or float32"});
  }
  for (const DataType type : {DataType::uint8, DataType::int16, DataType::int32, DataType::float32}) {
    EXPECT_EQ(checked(small(3, 3, type)).output_type(),
              type == DataType::float32 ? DataType::float32 : DataType::int32);
  }
}

TEST_F(Conv2dProblemTest, a_filter_has_one_weight_for_each_place) {
  expect_refused(changed([](Conv2d& p) { p.filter.pop_back(); }),
                 {"has 8 values", "filter_height * filter_width = 3 * 3 = 9"});
  expect_refused(changed([](Conv2d& p) { p.filter.push_back(0); }), {"has 10 values", "= 9"});
  expect_refused(changed([](Conv2d& p) { p.filter.clear(); }), {"has 0 values", "= 9"});
}

TEST_F(Conv2dProblemTest, a_weight_is_a_number_of_the_arithmetic) {
  const auto with_weight = [](double weight, DataType type) {
    return changed([&](Conv2d& p) { p.filter[5] = weight; }, type);
  };
  for (const DataType type : {DataType::uint8, DataType::int16, DataType::int32, DataType::float32}) {
    expect_refused(with_weight(std::nan(""), type), {"filter(1, 2) of conv2d is nan", "finite"});
    expect_refused(with_weight(kInfinity, type), {"filter(1, 2) of conv2d is inf", "finite"});
    expect_refused(with_weight(-kInfinity, type), {"filter(1, 2) of conv2d is -inf", "finite"});
  }
  expect_refused(with_weight(-1e300, DataType::float32),
                 {"filter(1, 2) of conv2d is -1e+300", "3.40282e+38", "float32"});
  make(with_weight(std::numeric_limits<float>::max(), DataType::float32));
  for (const DataType type : {DataType::uint8, DataType::int16, DataType::int32}) {
    const std::string name(to_string(type));
    expect_refused(with_weight(0.5, type), {"filter(1, 2) of conv2d is 0.5", "must be an int32", name});
    expect_refused(with_weight(2147483648.0, type),
                   {"filter(1, 2) of conv2d is 2.14748e+09", "must be an int32", name});
    expect_refused(with_weight(-2147483649.0, type),
                   {"filter(1, 2) of conv2d is -2.14748e+09", "must be an int32", name});
    make(with_weight(INT32_MIN, type));
    make(with_weight(INT32_MAX, type));
  }
}

TEST_F(Conv2dProblemTest, float_weights_are_rounded_and_integers_kept) {
  EXPECT_EQ(checked(changed([](Conv2d& p) { p.filter[0] = 0.1; }, DataType::float32)).filter[0],
            static_cast<double>(0.1F));
  EXPECT_EQ(checked(changed([](Conv2d& p) { p.filter[0] = INT32_MAX; })).filter[0], INT32_MAX);
}

TEST_F(Conv2dProblemTest, an_anchor_lies_in_the_filter) {
  expect_refused(changed([](Conv2d& p) { p.anchor_y = -2; }),
                 {"anchor_y of conv2d is -2", "less than filter_height = 3", "kCentre"});
  expect_refused(changed([](Conv2d& p) { p.anchor_y = 3; }),
                 {"anchor_y of conv2d is 3", "less than filter_height = 3"});
  expect_refused(changed([](Conv2d& p) { p.anchor_x = 3; }), {"anchor_x of conv2d is 3", "less than filter_width = 3"});
  make(changed([](Conv2d& p) { p.anchor_y = 2, p.anchor_x = 0; }));
}

TEST_F(Conv2dProblemTest, the_centre_is_rounded_down) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 62, 63}) {
    const Conv2d problem = checked(small(size, 64 - size));
    EXPECT_EQ(problem.anchor_y, (size - 1) / 2);
    EXPECT_EQ(problem.anchor_x, (64 - size - 1) / 2);
  }
}

TEST_F(Conv2dProblemTest, without_a_border_the_filter_must_fit) {
  const auto valid = [](std::int64_t filter_height, std::int64_t filter_width) {
    Conv2d problem = small(filter_height, filter_width);
    problem.border = Border::valid;
    return problem;
  };
  expect_refused(valid(6, 3), {"height of conv2d is 5", "border valid", "at least filter_height = 6"});
  expect_refused(valid(3, 8), {"width of conv2d is 7", "border valid", "at least filter_width = 8"});
  const Conv2d one_pixel = checked(valid(5, 7));
  EXPECT_EQ(one_pixel.output_height(), 1);
  EXPECT_EQ(one_pixel.output_width(), 1);
  make(small(6, 8));  // with a border it need not
}

TEST_F(Conv2dProblemTest, a_flipped_filter_is_turned_with_its_anchor) {
  Conv2d problem = small(2, 4);
  problem.flip = true;
  const Conv2d centred = checked(problem);
  EXPECT_EQ(centred.filter, (std::vector<double>{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_FALSE(centred.flip);
  EXPECT_EQ(centred.anchor_y, 1) << "the centre of 2 is 0, of the filter turned around 1";
  EXPECT_EQ(centred.anchor_x, 2) << "the centre of 4 is 1, of the filter turned around 2";
  problem.anchor_y = 1;
  problem.anchor_x = 3;
  EXPECT_EQ(checked(problem).anchor_y, 0);
  EXPECT_EQ(checked(problem).anchor_x, 0);
  problem.flip = false;
  EXPECT_EQ(checked(problem).filter, problem.filter);
  EXPECT_EQ(checked(problem).anchor_y, 1);
}

TEST_F(Conv2dProblemTest, without_a_border_there_is_no_anchor) {
  for (const bool flip : {false, true}) {
    Conv2d problem = small(2, 3);
    problem.border = Border::valid;
    problem.flip = flip;
    problem.anchor_y = 1;
    EXPECT_EQ(checked(problem).anchor_y, 0);
    EXPECT_EQ(checked(problem).anchor_x, 0);
    EXPECT_EQ(checked(problem).filter.front(), flip ? 6 : 1);
  }
  // One that does not lie in the filter is refused all the same.
  Conv2d problem = small(2, 3);
  problem.border = Border::valid;
  problem.anchor_x = 3;
  expect_refused(problem, {"anchor_x of conv2d is 3"});
}

TEST_F(Conv2dProblemTest, images_that_no_index_reaches_are_refused) {
  const auto sized = [](std::int64_t height, std::int64_t width, std::int64_t batch, DataType type) {
    return changed([&](Conv2d& p) { p.height = height, p.width = width, p.batch = batch; }, type);
  };
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  expect_refused(sized(kHuge, kHuge, 1, DataType::uint8),
                 {"operand image of conv2d has 1 images of 1099511627776 x 1099511627776 uint8",
                  std::to_string(std::int64_t{1} << 48) + " bytes"});
  expect_refused(sized(3, 5, INT64_MAX / 4, DataType::int16), {"operand image", "images of 3 x 5 int16"});
  expect_refused(sized(1, std::int64_t{1} << 61, 1, DataType::int32), {"operand image", "int32"});
  // The output is of another type, and may be too large where the image is not.
  expect_refused(sized(1, std::int64_t{1} << 47, 1, DataType::uint8), {"operand output", "int32"});
  make(sized(1, std::int64_t{1} << 46, 1, DataType::uint8));
  // A size of 0 leaves the others bounded.
  expect_refused(sized(0, INT64_MAX, INT64_MAX, DataType::int32), {"images of 0 x 9223372036854775807"});
  expect_refused(sized(INT64_MAX, 1, 0, DataType::int32), {"has 0 images of 9223372036854775807 x 1"});
  make(sized(0, std::int64_t{1} << 40, 64, DataType::int32));
}

TEST_F(Conv2dProblemTest, operands_are_checked_before_anything_is_queued) {
  Queue queue(device_);
  Conv2d problem = small(3, 3, DataType::uint8);
  problem.batch = 2;
  problem.border = Border::valid;
  const auto kernel = device_.kernel(problem, {.label = "edges"});
  const auto image = device_.upload<std::uint8_t>(std::vector<std::uint8_t>(70, 2));
  const auto output = device_.allocate<std::int32_t>(30);  // 2 x 3 x 5
  queue.run(kernel, {.image = image, .output = output});
  EXPECT_EQ(queue.download(output).get(), std::vector<std::int32_t>(30, 90));
  const auto few = device_.allocate<std::int32_t>(29);
  const auto words = device_.allocate<std::int32_t>(100);
  EXPECT_ERROR(queue.run(kernel, {.image = image.view(0, 69), .output = output}), kCode, "operand image", "69 elements",
               "70", "'edges'");
  EXPECT_ERROR(queue.run(kernel, {.image = image, .output = few}), kCode, "operand output", "29 elements", "30");
  EXPECT_ERROR(queue.run(kernel, {.image = words, .output = output}), kCode, "operand image", "int32", "uint8");
  EXPECT_ERROR(queue.run(kernel, {.image = image, .output = image}), kCode, "operand output", "uint8", "int32");
  EXPECT_ERROR(queue.run(kernel, {.image = {}, .output = output}), kCode, "operand image", "holds nothing");
  queue.finish();
}

TEST_F(Conv2dProblemTest, results_follow_flip_anchor_and_border) {
  // One bright pixel draws the filter, turned around by a correlation and upright by a convolution.
  Conv2d problem{
      .height = 3, .width = 4, .filter_height = 2, .filter_width = 2, .filter = {1, 2, 3, 4}, .type = DataType::int32};
  std::vector<std::int32_t> pixels(12, 0);
  pixels[5] = 10;  // (1, 1)
  const auto image = device_.upload<std::int32_t>(pixels);
  const auto output = device_.allocate<std::int32_t>(12);
  const auto result = [&] {
    Queue queue(device_);
    queue.run(device_.kernel(problem), {.image = image, .output = output});
    return queue.download(output).get();
  };
  EXPECT_EQ(result(), (std::vector<std::int32_t>{40, 30, 0, 0, 20, 10, 0, 0, 0, 0, 0, 0}));
  problem.flip = true;
  EXPECT_EQ(result(), (std::vector<std::int32_t>{0, 0, 0, 0, 0, 10, 20, 0, 0, 30, 40, 0}));
  problem.flip = false;
  problem.anchor_y = problem.anchor_x = 1;
  EXPECT_EQ(result(), (std::vector<std::int32_t>{0, 0, 0, 0, 0, 40, 30, 0, 0, 20, 10, 0}));
}

TEST_F(Conv2dProblemTest, times_are_kept_for_each_problem_apart) {
  const Conv2d problem = changed([](Conv2d& p) { p.height = 11; });
  remember_time(device_.kernel(problem), device_, 0.25);
  const auto time_of = [&](const Conv2d& other) { return explain(other, device_).front().measured_s; };
  EXPECT_EQ(time_of(problem), 0.25);
  const auto differs = [&](const auto& change) {
    Conv2d other = problem;
    change(other);
    return !time_of(other);
  };
  EXPECT_TRUE(differs([](Conv2d& p) { p.height = 12; }));
  EXPECT_TRUE(differs([](Conv2d& p) { p.width = 8; }));
  EXPECT_TRUE(differs([](Conv2d& p) { p.filter[8] = 10; })) << "a variant may be chosen by the weights";
  EXPECT_TRUE(differs([](Conv2d& p) { p.flip = true; }));
  EXPECT_TRUE(differs([](Conv2d& p) { p.border = Border::valid; }));
  EXPECT_TRUE(differs([](Conv2d& p) { p.anchor_x = 0; }));
  EXPECT_TRUE(differs([](Conv2d& p) { p.type = DataType::float32; }));
  EXPECT_TRUE(differs([](Conv2d& p) { p.batch = 2; }));
  EXPECT_TRUE(differs([](Conv2d& p) { p.accuracy = Accuracy::strict; }));
  Conv2d same = problem;
  same.anchor_x = 1;  // what kCentre stands for
  EXPECT_EQ(time_of(same), 0.25);
  EXPECT_ERROR((void)device_.kernel(problem, {.variant = "tiled"}), kCode, "'tiled'", "conv2d", "naive");
}

TEST(BorderTest, has_a_name_for_messages) {
  EXPECT_EQ(to_string(Border::same), "same");
  EXPECT_EQ(to_string(Border::valid), "valid");
}

}  // namespace
}  // namespace tessera
