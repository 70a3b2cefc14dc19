// The numbers that the oracle's stacks are multiplied with.
#include "conformance/denoise/denoise_stack_oracle.h"

namespace tessera::conformance {

namespace {

double as_float(double value) {
  return static_cast<double>(static_cast<float>(value));
}

/// Row 0 holds the mean. Every further row is a difference of two halves of a stretch: of all, then of each half of it,
/// of each quarter, and so on.
Matrix haar_matrix(std::int64_t side) {
  const auto count = static_cast<std::size_t>(side);
  Matrix matrix{std::vector<double>(count, std::sqrt(1 / static_cast<double>(side)))};
  for (std::size_t length = count; length > 1; length /= 2) {
    for (std::size_t first = 0; first < count; first += length) {
      std::vector<double> row(count, 0.0);
      for (std::size_t i = 0; i < length; ++i)
        row[first + i] = (i < length / 2 ? 1 : -1) * std::sqrt(1 / static_cast<double>(length));
      matrix.push_back(row);
    }
  }
  return matrix;
}

Matrix cosine_matrix(std::int64_t side) {
  const auto count = static_cast<double>(side);
  Matrix matrix;
  for (std::int64_t i = 0; i < side; ++i) {
    std::vector<double>& row = matrix.emplace_back();
    for (std::int64_t j = 0; j < side; ++j) {
      const double angle = std::numbers::pi * static_cast<double>(i * (2 * j + 1)) / (2 * count);
      row.push_back(std::cos(angle) * std::sqrt((i == 0 ? 1.0 : 2.0) / count));
    }
  }
  return matrix;
}

/// I0 as the mean of exp(x cos t) over a half turn, by the trapezoidal rule, which is exact to all digits here.
double bessel(double x) {
  constexpr int kSteps = 200;
  double sum = (std::exp(x) + std::exp(-x)) / 2;
  for (int k = 1; k < kSteps; ++k) sum += std::exp(x * std::cos(std::numbers::pi * k / kSteps));
  return sum / kSteps;
}

double kaiser(double beta, std::int64_t side, std::int64_t place) {
  if (side == 1) return 1;
  const double from_centre = 2 * static_cast<double>(place) / static_cast<double>(side - 1) - 1;
  return bessel(beta * std::sqrt(1 - from_centre * from_centre)) / bessel(beta);
}

}  // namespace

Matrix oracle_matrix(PatchTransform transform, std::int64_t side) {
  Matrix matrix = transform == PatchTransform::dct ? cosine_matrix(side) : haar_matrix(side);
  for (std::vector<double>& row : matrix) {
    for (double& number : row) number = as_float(number);
  }
  return matrix;
}

std::vector<double> oracle_window(const DenoiseStep& step) {
  std::vector<double> window;
  for (std::int64_t z = 0; z < step.patch.z; ++z) {
    for (std::int64_t y = 0; y < step.patch.y; ++y) {
      for (std::int64_t x = 0; x < step.patch.x; ++x)
        window.push_back(as_float(kaiser(step.kaiser, step.patch.x, x) * kaiser(step.kaiser, step.patch.y, y) *
                                  kaiser(step.kaiser, step.patch.z, z)));
    }
  }
  return window;
}

}  // namespace tessera::conformance
