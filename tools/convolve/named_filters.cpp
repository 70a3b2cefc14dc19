// The filters that have names. Their weights are integers, so that sums are exact; those of gaussian and box are a
// column times a row, so that the library takes two short passes.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <system_error>

#include <fmt/format.h>
#include <tessera/tessera.h>

#include "tools/convolve/image_filter.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

namespace {

/// Up to this size gaussian is a row of Pascal's triangle.
constexpr std::int64_t kLargestBinomial = 7;
/// About the sum of a larger gaussian's column: as large as 255 times the sum of all weights, its square, stays below
/// 2^31.
constexpr double kGaussianScale = 2048;

/// A row of integers with the shape of a bell, `size` long, size odd.
std::vector<double> bell(std::int64_t size) {
  std::vector<double> weights(static_cast<std::size_t>(size));
  if (size <= kLargestBinomial) {
    double weight = 1;
    for (std::int64_t i = 0; i < size; ++i) {
      weights[i] = weight;
      weight = weight * static_cast<double>(size - 1 - i) / static_cast<double>(i + 1);
    }
    return weights;
  }
  const double deviation = static_cast<double>(size) / 6;  // the filter ends at three deviations
  const std::int64_t middle = size / 2;
  const double peak = kGaussianScale / (deviation * std::sqrt(2 * std::acos(-1.0)));
  for (std::int64_t i = 0; i < size; ++i) {
    const double distance = static_cast<double>(i - middle) / deviation;
    weights[i] = std::round(peak * std::exp(-distance * distance / 2));
  }
  return weights;
}

/// The square filter of a column times the same row.
ImageFilter square(const std::vector<double>& row) {
  ImageFilter filter{static_cast<std::int64_t>(row.size()), static_cast<std::int64_t>(row.size()), {}, true, false};
  for (const double down : row) {
    for (const double across : row) filter.weights.push_back(down * across);
  }
  return filter;
}

ImageFilter three_by_three(std::vector<double> weights, bool takes_absolute) {
  return {3, 3, std::move(weights), false, takes_absolute};
}

/// The size behind the colon of "box:7".
std::int64_t size_of(const std::string& spec, bool must_be_odd) {
  const std::size_t colon = spec.find(':');
  std::int64_t size = 0;
  const char* const end = spec.data() + spec.size();
  const auto parsed = std::from_chars(spec.data() + std::min(colon, spec.size() - 1) + 1, end, size);
  const bool is_number = colon != std::string::npos && parsed.ec == std::errc() && parsed.ptr == end;
  if (!is_number || size < 1 || size > Conv2d::kLargestFilter || (must_be_odd && size % 2 == 0)) {
    throw UsageError(fmt::format("the filter is '{}', but must be {}:N with {} from 1 to {}", spec,
                                 spec.substr(0, colon), must_be_odd ? "an odd N" : "N", Conv2d::kLargestFilter));
  }
  return size;
}

}  // namespace

double ImageFilter::sum() const {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

std::string_view named_filters() {
  return "gaussian:N, box:N, sharpen, laplacian, emboss, sobel-x, sobel-y";
}

ImageFilter find_filter(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (name == "gaussian") return square(bell(size_of(spec, true)));
  if (name == "box") return square(std::vector<double>(static_cast<std::size_t>(size_of(spec, false)), 1.0));
  if (spec == "sharpen") return three_by_three({0, -1, 0, -1, 5, -1, 0, -1, 0}, false);
  if (spec == "laplacian") return three_by_three({0, 1, 0, 1, -4, 1, 0, 1, 0}, true);
  if (spec == "emboss") return three_by_three({-2, -1, 0, -1, 1, 1, 0, 1, 2}, false);
  if (spec == "sobel-x") return three_by_three({-1, 0, 1, -2, 0, 2, -1, 0, 1}, true);
  if (spec == "sobel-y") return three_by_three({-1, -2, -1, 0, 0, 0, 1, 2, 1}, true);
  std::error_code nothing_there;
  if (!std::filesystem::exists(spec, nothing_there)) {
    throw UsageError(fmt::format("there is no filter and no file '{}', there are: {}", spec, named_filters()));
  }
  return read_filter_file(spec);
}

}  // namespace tessera::tool
