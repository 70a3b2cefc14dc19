// How "marching" and "separable" cut the output into strips, for numbers of threads that this machine may not have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/conv2d/conv2d_strips.h"

namespace tessera::fault {
namespace {

using cpu_tbb::Strip;
using cpu_tbb::StripRows;
using cpu_tbb::Strips;

Conv2d averaged(std::int64_t height, std::int64_t width, std::int64_t batch) {
  Conv2d problem;
  problem.height = height;
  problem.width = width;
  problem.filter_height = problem.filter_width = 3;
  problem.filter.assign(9, 1.0);
  problem.batch = batch;
  return problem;
}

/// Takes all strips, as if threads were given ranges of `at_once`: their columns follow each other in every row.
void expect_each_output_once(const Conv2d& problem, StripRows rows, int threads, std::int64_t at_once) {
  const Strips strips(problem, rows, threads);
  std::vector<std::vector<Strip>> met(static_cast<std::size_t>(problem.batch * problem.height));
  for (std::int64_t first = 0; first < strips.count(); first += at_once) {
    const std::int64_t last = std::min(first + at_once, strips.count());
    for (std::int64_t next = first; next < last;) {
      const Strip strip = strips.take(next, last);
      ASSERT_LE(next, last);
      ASSERT_GE(strip.rows, 1);
      ASSERT_LE(strip.row + strip.rows, problem.height);
      for (std::int64_t row = strip.row; row < strip.row + strip.rows; ++row)
        met[static_cast<std::size_t>(strip.image * problem.height + row)].push_back(strip);
    }
  }
  for (std::vector<Strip>& row : met) {
    std::sort(row.begin(), row.end(), [](const Strip& a, const Strip& b) { return a.column < b.column; });
    std::int64_t column = 0;
    for (const Strip& strip : row) {
      ASSERT_EQ(strip.column, column);
      column += strip.columns;
    }
    ASSERT_EQ(column, problem.width);
  }
}

TEST(Conv2dStripsTest, each_output_is_in_one_strip) {
  for (const std::int64_t height : {1, 63, 700, 2100}) {
    for (const std::int64_t width : {1, 26, 1025, 20000}) {
      for (const std::int64_t batch : {1, 3}) {
        for (const int threads : {1, 2, 16}) {
          for (const std::int64_t at_once : {1, 3, 1000000}) {
            for (const StripRows rows : {StripRows::in_image, StripRows::copied}) {
              SCOPED_TRACE(::testing::Message() << batch << " of " << height << " x " << width << ", " << threads
                                                << " threads, " << at_once << " at once");
              expect_each_output_once(averaged(height, width, batch), rows, threads, at_once);
            }
          }
        }
      }
    }
  }
}

TEST(Conv2dStripsTest, runs_of_one_column_of_an_image_are_one_march) {
  const Strips strips(averaged(5000, 200, 2), StripRows::in_image, 2);
  std::int64_t next = 0;
  EXPECT_EQ(strips.take(next, strips.count()).rows, 5000);
  EXPECT_EQ(strips.take(next, strips.count()).image, 1);
  EXPECT_EQ(next, strips.count());
}

TEST(Conv2dStripsTest, nothing_to_compute_has_no_strips) {
  EXPECT_EQ(Strips(averaged(0, 200, 2), StripRows::in_image, 2).count(), 0);
  EXPECT_EQ(Strips(averaged(100, 200, 0), StripRows::in_image, 2).count(), 0);
}

}  // namespace
}  // namespace tessera::fault
