// The probabilistic bounds of conv2d tested themselves, without a device: honest float32 products hold them in any
// order of the sum, and products of numbers with 11 bits do not, though the worst case forgives them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/conv2d/conv2d_reference.h"
#include "conformance/inputs.h"
#include "eleven_bits.h"

namespace tessera::conformance {
namespace {

/// An image and a filter drawn at random, and as many outputs as the filter leaves.
class RandomConv2d {
 public:
  RandomConv2d(std::int64_t filter, std::int64_t side, Values values) : image_((side + filter) * (side + filter)) {
    problem_.height = problem_.width = side + filter;
    problem_.filter_height = problem_.filter_width = filter;
    problem_.border = Border::valid;
    problem_.type = DataType::float32;
    std::vector<float> weights(static_cast<std::size_t>(filter * filter));
    fill_values(std::span<float>(weights), values, 1);
    fill_values(std::span<float>(image_), values, 2);
    problem_.filter.assign(weights.begin(), weights.end());
  }

  /// Each number changed by `round` before it is multiplied; `sums` partial sums are added up at the end.
  template <class Round>
  std::vector<float> outputs(Round round, std::size_t sums = 1) const {
    const std::int64_t size = problem_.filter_width;
    std::vector<float> all;
    for (std::int64_t pixel = 0; pixel < problem_.output_height() * problem_.output_width(); ++pixel) {
      const std::int64_t corner = pixel / problem_.output_width() * problem_.width + pixel % problem_.output_width();
      std::vector<float> parts(sums, 0.0F);
      for (std::int64_t i = 0; i < size * size; ++i) {
        parts[static_cast<std::size_t>(i) % sums] += round(static_cast<float>(problem_.filter[i])) *
                                                     round(image_[corner + i / size * problem_.width + i % size]);
      }
      float sum = 0;
      for (const float part : parts) sum += part;
      all.push_back(sum);
    }
    return all;
  }
  std::string failure_of(const std::vector<float>& outputs, Draw draw) const {
    Comparison comparison(DataType::float32);
    Conv2dReference<float>({problem_, image_}, 4, draw).check(outputs, 1, -123, comparison);
    return comparison.outcome().failure;
  }

 private:
  Conv2d problem_;
  std::vector<float> image_;
};

TEST(Conv2dChanceTest, honest_products_hold_it) {
  for (const std::int64_t filter : {1, 2, 7, 21}) {
    for (const auto& [values, draw] :
         {std::pair{Values::symmetric, Draw::symmetric}, {Values::positive, Draw::one_sided}}) {
      const RandomConv2d conv2d(filter, 30, values);
      for (const std::size_t sums : {1, 4}) {
        EXPECT_EQ(conv2d.failure_of(conv2d.outputs(as_it_is, sums), draw), "") << filter << ", " << sums;
      }
    }
  }
}

TEST(Conv2dChanceTest, products_of_11_bits_are_found_where_the_worst_case_forgives_them) {
  const RandomConv2d conv2d(43, 30, Values::symmetric);
  const std::vector<float> outputs = conv2d.outputs(rounded_to_11_bits);
  EXPECT_EQ(conv2d.failure_of(outputs, Draw::chosen), "");
  EXPECT_NE(conv2d.failure_of(outputs, Draw::symmetric), "");
}

TEST(Conv2dChanceTest, products_of_11_bits_are_found_in_short_sums_too) {
  const RandomConv2d conv2d(15, 30, Values::symmetric);
  const std::string failure = conv2d.failure_of(conv2d.outputs(rounded_to_11_bits), Draw::symmetric);
  EXPECT_NE(failure, "");
}

TEST(Conv2dChanceTest, sums_that_cancel_together_count_as_one) {
  Conv2d problem{.height = 9, .width = 9, .filter_height = 3, .filter_width = 3, .filter = std::vector<double>(9, 1)};
  // By hand: (1 + 2 (2/3)^2 + 2 (1/3)^2)^2 for three equal weights in both directions.
  EXPECT_NEAR(conv2d_pixels_in_touch(problem), 19.0 / 9 * 19.0 / 9, 1e-12);
  problem.filter.assign(9, 0);
  EXPECT_EQ(conv2d_pixels_in_touch(problem), 1);
  problem.filter[4] = -2;
  EXPECT_EQ(conv2d_pixels_in_touch(problem), 1);
  problem.filter_width = 9, problem.filter_height = 1;
  problem.filter = {1, -1, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(conv2d_pixels_in_touch(problem), 1.5) << "half of a neighbour, on either side";
}

}  // namespace
}  // namespace tessera::conformance
