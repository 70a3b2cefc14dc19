// Which problems share what was tuned for one of them.
#include "shape_class.h"

#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <limits>
#include <vector>

#include "expect_error.h"

namespace tessera {
namespace {

TEST(ShapeClassTest, a_size_counts_as_the_power_of_two_that_is_nearest_by_ratio) {
  using detail::nearest_power_of_two;
  EXPECT_EQ(nearest_power_of_two(-5), 0U);
  EXPECT_EQ(nearest_power_of_two(0), 0U);
  EXPECT_EQ(nearest_power_of_two(1), 1U);
  EXPECT_EQ(nearest_power_of_two(2), 2U);
  EXPECT_EQ(nearest_power_of_two(3), 4U);  // 1.5 is above the root of 2
  EXPECT_EQ(nearest_power_of_two(724), 512U);
  EXPECT_EQ(nearest_power_of_two(725), 1024U);
  EXPECT_EQ(nearest_power_of_two(1448), 1024U);
  EXPECT_EQ(nearest_power_of_two(1449), 2048U);
  EXPECT_EQ(nearest_power_of_two(std::numeric_limits<std::int64_t>::max()), std::uint64_t{1} << 63U);
  std::uint64_t before = 0;
  for (std::int64_t size = 0; size < 100000; ++size) {
    const std::uint64_t about = nearest_power_of_two(size);
    EXPECT_GE(about, before) << size;
    before = about;
  }
}

TEST(ShapeClassTest, neighbours_of_a_power_of_two_are_one_class) {
  const std::string one = shape_class(Gemm{.m = 1024, .n = 512, .k = 7});
  EXPECT_EQ(
      one, "type=float32,accuracy=accurate,transpose_a=0,transpose_b=0,reads_c=0,is_packed=1,m~1024,n~512,k~8,batch~1");
  for (const std::int64_t m : {725, 1000, 1023, 1025, 1100, 1448})
    EXPECT_EQ(shape_class(Gemm{.m = m, .n = 512, .k = 7}), one) << m;
  for (const std::int64_t m : {0, 1, 512, 724, 1449, 2048})
    EXPECT_NE(shape_class(Gemm{.m = m, .n = 512, .k = 7}), one) << m;
}

TEST(ShapeClassTest, what_kernels_are_compiled_for_makes_another_class) {
  const Gemm plain{.m = 64, .n = 64, .k = 64};
  std::vector<Gemm> others(7, plain);
  others[0].type = DataType::float64;
  others[1].transpose_a = true;
  others[2].transpose_b = true;
  others[3].accuracy = Accuracy::strict;
  others[4].beta = 1;
  others[5].lda = 65;
  others[6].batch = 8;
  for (const Gemm& other : others) EXPECT_NE(shape_class(other), shape_class(plain));
  Gemm alike = plain;
  alike.alpha = 0.5;
  alike.lda = 64;  // as it would be filled in
  EXPECT_EQ(shape_class(alike), shape_class(plain));
}

TEST(ShapeClassTest, every_operator_tells_sizes_apart_from_data) {
  const auto image = [](std::int64_t height, std::int64_t filter, double weight) {
    Conv2d problem;
    problem.height = height;
    problem.width = 100;
    problem.filter_height = filter;
    problem.filter_width = 1;
    problem.filter.assign(static_cast<std::size_t>(filter), weight);
    return shape_class(problem);
  };
  EXPECT_EQ(image(100, 3, 1), image(120, 3, 0.5));
  EXPECT_NE(image(100, 3, 1), image(100, 5, 1));
  EXPECT_NE(image(100, 3, 1), image(400, 3, 1));

  const CnnLayer layer{
      .input_channels = 60, .output_channels = 60, .height = 30, .width = 30, .filter_height = 3, .filter_width = 3};
  CnnLayer other_layer = layer;
  other_layer.input_channels = 64;
  EXPECT_EQ(shape_class(other_layer), shape_class(layer));
  other_layer.pool_size = 2;
  EXPECT_NE(shape_class(other_layer), shape_class(layer));

  const KernelRegression regression{.training_rows = 1000, .columns = 784, .queries = 100};
  KernelRegression other_regression = regression;
  other_regression.order = 3;
  other_regression.scale = 0.5;
  EXPECT_EQ(shape_class(other_regression), shape_class(regression));
  other_regression.nearest = true;
  EXPECT_NE(shape_class(other_regression), shape_class(regression));

  const PatchMatch match{.size = {30, 30, 30}, .patch = {4, 4, 4}, .window = {5, 5, 5}, .step = {3, 3, 3}};
  PatchMatch other_match = match;
  other_match.threshold = 5;
  other_match.size.z = 35;
  EXPECT_EQ(shape_class(other_match), shape_class(match));
  other_match.window.x = 7;
  EXPECT_NE(shape_class(other_match), shape_class(match));

  EXPECT_EQ(shape_class(Denoise{.size = {64, 64, 1}, .sigma = 5}),
            shape_class(Denoise{.size = {60, 60, 1}, .sigma = 9}));
  EXPECT_NE(shape_class(Denoise{.size = {64, 64, 1}, .sigma = 5}), shape_class(Denoise{.size = {64, 64, 1}}));
  EXPECT_EQ(shape_class(NonlocalMeans{.size = {64, 64, 1}, .sigma = 5}),
            shape_class(NonlocalMeans{.size = {60, 60, 1}, .sigma = 9}));
  EXPECT_NE(shape_class(NonlocalMeans{.size = {64, 64, 1}, .sigma = 5, .patch = {5, 5, 1}}),
            shape_class(NonlocalMeans{.size = {64, 64, 1}, .sigma = 5}));
}

TEST(ShapeClassTest, a_wrong_problem_has_none) {
  EXPECT_ERROR((void)shape_class(Gemm{.m = -1}), ErrorCode::invalid_argument, "m of gemm is -1");
}

}  // namespace
}  // namespace tessera
