// The filters of conv2d's cases: weights without a pattern, and products of a column and a row.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/ops/conv2d.h>

namespace tessera::conformance {

struct ImageSize {
  std::int64_t height;
  std::int64_t width;
};
struct FilterSize {
  std::int64_t height;
  std::int64_t width;
};

/// Weights without a pattern: from -9 to 9 for integers, of full precision in [-1, 1) for float.
[[nodiscard]] std::vector<double> random_filter(DataType type, const FilterSize& filter, std::uint64_t seed = 3);

/// The product of a column and a row of small integers, times a power of two for float: rank 1.
[[nodiscard]] std::vector<double> rank_one_filter(DataType type, const FilterSize& filter);

/// A problem with a random filter, and every other field as it is when nothing is said.
[[nodiscard]] Conv2d conv2d_of(DataType type, const ImageSize& image, const FilterSize& filter,
                               Border border = Border::same);

}  // namespace tessera::conformance
