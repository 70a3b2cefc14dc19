// denoise: the numbers that a patch is multiplied with. Computed in double and rounded to float32 once, so that every
// backend multiplies with the same bits.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <tessera/ops/denoise.h>

namespace tessera::mathematics {

/// An orthonormal matrix of side x side: row i holds what gives coefficient i.
[[nodiscard]] inline std::vector<float> denoise_matrix(PatchTransform transform, std::int64_t side) {
  std::vector<float> matrix(static_cast<std::size_t>(side * side));
  const auto count = static_cast<double>(side);
  for (std::int64_t i = 0; i < side; ++i) {
    std::int64_t length = side;  // of the stretch that Haar's row i looks at: rows 2^n to 2^(n+1) have side / 2^n
    std::int64_t first_row = 1;
    for (; first_row * 2 <= i; first_row *= 2) length /= 2;
    for (std::int64_t j = 0; j < side; ++j) {
      double value = 0;
      if (transform == PatchTransform::dct) {
        const double angle = std::numbers::pi * static_cast<double>((2 * j + 1) * i) / (2 * count);
        value = std::sqrt((i == 0 ? 1 : 2) / count) * std::cos(angle);
      } else {
        const std::int64_t in_stretch = i == 0 ? 0 : j - (i - first_row) * length;
        const double size = std::sqrt(1 / static_cast<double>(length));
        if (in_stretch >= 0 && in_stretch < length) value = i != 0 && in_stretch >= length / 2 ? -size : size;
      }
      matrix[static_cast<std::size_t>(i * side + j)] = static_cast<float>(value);
    }
  }
  return matrix;
}

/// Bessel's function I0 by its series, whose terms are positive.
[[nodiscard]] inline double bessel_i0(double x) noexcept {
  double sum = 1;
  double term = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}

/// The Kaiser window of so many voxels along one axis.
[[nodiscard]] inline std::vector<double> kaiser_window(double beta, std::int64_t side) {
  std::vector<double> window(static_cast<std::size_t>(side), 1.0);
  for (std::int64_t j = 0; j < side && side > 1; ++j) {
    const double from_centre = 2 * static_cast<double>(j) / static_cast<double>(side - 1) - 1;
    window[static_cast<std::size_t>(j)] = bessel_i0(beta * std::sqrt(1 - from_centre * from_centre)) / bessel_i0(beta);
  }
  return window;
}

/// What one step multiplies with.
struct DenoiseTables {
  explicit DenoiseTables(const DenoiseStep& step)
      : x(denoise_matrix(step.transform, step.patch.x)),
        y(denoise_matrix(step.transform, step.patch.y)),
        z(denoise_matrix(step.transform, step.patch.z)) {
    const std::vector<double> along_x = kaiser_window(step.kaiser, step.patch.x);
    const std::vector<double> along_y = kaiser_window(step.kaiser, step.patch.y);
    for (const double weight_z : kaiser_window(step.kaiser, step.patch.z)) {
      for (const double weight_y : along_y) {
        for (const double weight_x : along_x) window.push_back(static_cast<float>(weight_x * weight_y * weight_z));
      }
    }
  }

  std::vector<float> x;  ///< matrices, one for each axis
  std::vector<float> y;
  std::vector<float> z;
  std::vector<float> window;  ///< a weight for each voxel of a patch
};

}  // namespace tessera::mathematics
