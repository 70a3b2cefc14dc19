// The oracle of conv2d tested itself, without a device: it gives what was worked out by hand, and its bound follows the
// roundings.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "conv2d/conv2d_oracle_outputs.h"

namespace tessera::conformance {
namespace {

/// 3 x 4: 1 to 12.
Integers counted() {
  return {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
}

TEST(Conv2dOracleTest, correlates_and_pads_with_zeros) {
  const Conv2d sums = problem_of(DataType::int32, 3, 4, 3, 3, std::vector<double>(9, 1));
  EXPECT_EQ(oracle(sums, counted()), (Integers{14, 24, 30, 22, 33, 54, 63, 45, 30, 48, 54, 38}));
  // The weight to the upper left of the centre takes the pixel to the upper left.
  const Conv2d shift = problem_of(DataType::int32, 3, 4, 3, 3, {1, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(oracle(shift, counted()), (Integers{0, 0, 0, 0, 0, 1, 2, 3, 0, 5, 6, 7}));
}

TEST(Conv2dOracleTest, leaves_the_border_out) {
  const Conv2d sums = problem_of(DataType::int32, 3, 4, 3, 3, std::vector<double>(9, 1), Border::valid);
  EXPECT_EQ(oracle(sums, counted()), (Integers{54, 63}));
  const Conv2d differences = problem_of(DataType::int32, 3, 4, 2, 1, {-1, 1}, Border::valid);
  EXPECT_EQ(oracle(differences, counted()), Integers(8, 4));
  const Conv2d all = problem_of(DataType::int32, 3, 4, 3, 4, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100}, Border::valid);
  EXPECT_EQ(oracle(all, counted()), Integers{1201});
}

TEST(Conv2dOracleTest, turns_the_filter_and_its_anchor) {
  Conv2d problem = problem_of(DataType::int32, 3, 4, 3, 3, {1, 0, 0, 0, 0, 0, 0, 0, 0});
  problem.flip = true;
  EXPECT_EQ(oracle(problem, counted()), (Integers{6, 7, 8, 0, 10, 11, 12, 0, 0, 0, 0, 0}));
  problem.border = Border::valid;
  EXPECT_EQ(oracle(problem, counted()), (Integers{11, 12}));
  // With the anchor on the only weight that counts, the image stays where it is, flipped or not.
  problem.border = Border::same;
  problem.anchor_y = problem.anchor_x = 0;
  EXPECT_EQ(oracle(problem, counted()), counted());
  problem.flip = false;
  EXPECT_EQ(oracle(problem, counted()), counted());
  problem.anchor_x = 2;  // the weight lies two columns to the left of the anchor
  EXPECT_EQ(oracle(problem, counted()), (Integers{0, 0, 1, 2, 0, 0, 5, 6, 0, 0, 9, 10}));
}

TEST(Conv2dOracleTest, anchors_even_filters_at_the_upper_left_of_the_middle) {
  const Conv2d square = problem_of(DataType::int32, 3, 4, 2, 2, {1, 10, 100, 1000});
  EXPECT_EQ(oracle(square, counted()), (Integers{6521, 7632, 8743, 804, 10965, 12076, 13187, 1208, 109, 120, 131, 12}));
  const Conv2d row = problem_of(DataType::int32, 3, 4, 1, 4, {1, 10, 100, 1000});  // the anchor is column 1
  EXPECT_EQ(oracle(row, counted()), (Integers{3210, 4321, 432, 43, 7650, 8765, 876, 87, 12090, 13209, 1320, 131}));
}

TEST(Conv2dOracleTest, takes_images_of_a_batch_apart) {
  Conv2d problem = problem_of(DataType::int32, 1, 2, 3, 3, std::vector<double>(9, 1));
  problem.batch = 3;
  EXPECT_EQ(oracle(problem, Integers{1, 2, 30, 40, 500, 600}), (Integers{3, 3, 70, 70, 1100, 1100}));
}

TEST(Conv2dOracleTest, wraps_around) {
  const Conv2d problem = problem_of(DataType::int32, 1, 2, 1, 2, {INT32_MAX, INT32_MAX}, Border::valid);
  EXPECT_EQ(oracle(problem, Integers{INT32_MAX, 1}), Integers{INT32_MIN});  // (2^31 - 1) * 2^31 modulo 2^32
  EXPECT_EQ(oracle(problem, Integers{INT32_MAX, INT32_MAX}), Integers{2});
  EXPECT_EQ(oracle(problem_of(DataType::int32, 1, 1, 1, 1, {INT32_MIN}), Integers{INT32_MIN}), Integers{0});
  EXPECT_EQ(oracle(problem_of(DataType::int32, 1, 1, 1, 1, {INT32_MIN}), Integers{-1}), Integers{INT32_MIN});
  EXPECT_EQ(oracle(problem_of(DataType::uint8, 1, 1, 1, 1, {INT32_MAX}), std::vector<std::uint8_t>{255}),
            Integers{INT32_MAX - 254});
  EXPECT_EQ(oracle(problem_of(DataType::int16, 1, 1, 1, 1, {INT32_MIN}), std::vector<std::int16_t>{-3}),
            Integers{INT32_MIN});
}

TEST(Conv2dOracleTest, bound_follows_the_roundings) {
  const double u = std::ldexp(1.0, -24);
  const std::vector<float> ones(16, 1.0F);
  const Conv2dInputs<float> inputs{problem_of(DataType::float32, 4, 4, 3, 3, std::vector<double>(9, -1)), ones};
  EXPECT_NEAR(conv2d_element(inputs, 0, 1, 1).bound / u, 9 * 9, 1e-3) << "nine products of magnitude 1";
  EXPECT_NEAR(conv2d_element(inputs, 0, 0, 1).bound / u, 6 * 6, 1e-3) << "six of them lie in the image";
  EXPECT_NEAR(conv2d_element(inputs, 0, 3, 3).bound / u, 4 * 4, 1e-3);
  const std::vector<std::int32_t> integers(16, 1);
  const Conv2dInputs<std::int32_t> exact{problem_of(DataType::int32, 4, 4, 3, 3, std::vector<double>(9, -1)), integers};
  EXPECT_EQ(conv2d_element(exact, 0, 1, 1).bound, 0);
}

}  // namespace
}  // namespace tessera::conformance
