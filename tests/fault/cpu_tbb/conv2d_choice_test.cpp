// What conv2d's choice on the CPU says for numbers of threads that this machine may not have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "ops/conv2d/conv2d_marching_choice.h"
#include "ops/conv2d/conv2d_strips.h"

namespace tessera::fault {
namespace {

Conv2d images(std::int64_t height, std::int64_t width, std::int64_t side, std::int64_t batch = 1) {
  Conv2d problem;
  problem.height = height;
  problem.width = width;
  problem.filter_height = problem.filter_width = side;
  problem.filter.assign(static_cast<std::size_t>(side * side), 1.0);
  problem.batch = batch;
  return problem;
}

TEST(Conv2dChoiceTest, many_rows_of_whole_pages_under_3_x_3_are_not_marched_over) {
  EXPECT_FALSE(cpu_tbb::marching_pays(images(1024, 1024, 3), 2));
  EXPECT_FALSE(cpu_tbb::marching_pays(images(256, 1024, 3, 4), 2));
  EXPECT_TRUE(cpu_tbb::marching_pays(images(1024, 1024, 3), 16));  // each has few rows
  EXPECT_TRUE(cpu_tbb::marching_pays(images(1024, 1024, 5), 2));
  EXPECT_TRUE(cpu_tbb::marching_pays(images(1024, 1000, 3), 2));
  EXPECT_TRUE(cpu_tbb::marching_pays(images(4096, 4096, 3), 2));  // written around the caches
  Conv2d shorter = images(1024, 1024, 3);
  shorter.border = Border::valid;  // rows of 1022
  EXPECT_TRUE(cpu_tbb::marching_pays(shorter, 2));
  Conv2d bytes = images(1024, 1024, 3);
  bytes.type = DataType::uint8;  // copied
  EXPECT_TRUE(cpu_tbb::marching_pays(bytes, 2));
}

TEST(Conv2dChoiceTest, images_that_fill_the_last_level_under_3_x_3_are_not_marched_over) {
  const double cached = cpu_tbb::most_cached_bytes();
  constexpr std::int64_t kWidth = 1000;
  const auto of = [](double bytes) { return images(static_cast<std::int64_t>(bytes / (8 * kWidth)), kWidth, 3); };
  EXPECT_TRUE(cpu_tbb::marching_pays(of(0.5 * cached), 1));
  EXPECT_FALSE(cpu_tbb::marching_pays(of(0.9 * cached), 1));
  EXPECT_FALSE(cpu_tbb::streams_output(of(0.9 * cached)));
  EXPECT_TRUE(cpu_tbb::marching_pays(of(1.1 * cached), 1));
  EXPECT_TRUE(cpu_tbb::streams_output(of(1.1 * cached)));
}

TEST(Conv2dChoiceTest, short_rows_under_one_weight_are_joined_and_no_pixel_is_lost) {
  for (const std::int64_t height : {1, 2, 7, 16, 83, 84, 997, 10007}) {
    for (const std::int64_t width : {1, 8, 9, 31, 63, 64, 1000}) {
      for (const std::int64_t batch : {0, 1, 3}) {
        const Conv2d given = images(height, width, 1, batch);
        const Conv2d joined = cpu_tbb::with_rows_joined(given);
        EXPECT_EQ(joined.batch * joined.height * joined.width, batch * height * width) << height << " x " << width;
        EXPECT_LE(joined.width, std::max<std::int64_t>(width, 4096));
        EXPECT_GE(joined.width, width);
        EXPECT_TRUE(width < 64 || joined == given) << height << " x " << width;
      }
    }
  }
  const Conv2d three = images(16, 8, 3);
  EXPECT_EQ(cpu_tbb::with_rows_joined(three), three);
}

}  // namespace
}  // namespace tessera::fault
