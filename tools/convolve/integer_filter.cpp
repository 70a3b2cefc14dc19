// Scaling weights to integers and splitting them into parts.
#include "tools/convolve/integer_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::tool {

namespace {

/// What the weights of one part may sum to in size: times 255 it is an int32.
constexpr double kLargestPart = INT32_MAX / 255;
/// What all weights may sum to in size: times 65535 it is an int64, with room for rounding.
constexpr double kLargestSum = 0x1p46;
constexpr int kMostDecimals = 12;
/// Digits lie within -2048 and 2048: 63 x 63 of them still sum to less than kLargestPart.
constexpr std::int64_t kDigitBase = 4096;

double size_of(const std::vector<double>& weights) {
  double size = 0;
  for (const double weight : weights) size += std::fabs(weight);
  return size;
}

/// Is the number an integer but for the rounding of a decimal to a double?
bool is_integer(double number) {
  return std::fabs(number - std::round(number)) <= 2 * std::numeric_limits<double>::epsilon() * std::fabs(number);
}

double choose_scale(const std::vector<double>& weights) {
  const double size = size_of(weights);
  double scale = 1;
  for (int decimals = 0; decimals < kMostDecimals; ++decimals) {
    if (std::all_of(weights.begin(), weights.end(), [&](double weight) { return is_integer(weight * scale); })) break;
    if (size * scale * 10 > kLargestSum) break;
    scale *= 10;
  }
  return scale;
}

/// Takes the lowest digit of every number away: number = digit + kDigitBase * what is left.
std::vector<double> take_digit(std::vector<double>& numbers) {
  constexpr double kBase = kDigitBase;
  std::vector<double> digits;
  for (double& number : numbers) {
    const double rest = std::round(number / kBase);
    digits.push_back(number - rest * kBase);
    number = rest;
  }
  return digits;
}

}  // namespace

IntegerFilter in_integers(const ImageFilter& filter) {
  IntegerFilter result;
  result.scale = choose_scale(filter.weights);
  std::vector<double> numbers;
  for (const double weight : filter.weights) numbers.push_back(std::round(weight * result.scale));
  std::int64_t factor = 1;
  for (; size_of(numbers) > kLargestPart; factor *= kDigitBase) {
    std::vector<double> digits = take_digit(numbers);
    if (size_of(digits) > 0) result.parts.push_back({factor, std::move(digits)});
  }
  result.parts.push_back({factor, std::move(numbers)});
  return result;
}

}  // namespace tessera::tool
