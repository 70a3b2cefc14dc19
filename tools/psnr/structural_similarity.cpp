// SSIM plane by plane: five moments are averaged along x and y, and along z over the last planes, which a ring keeps.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tools/process/interrupt.h"
#include "tools/psnr/likeness.h"

namespace tessera::tool {

namespace {

constexpr std::int64_t kWindow = 11;
constexpr double kDeviation = 1.5;
constexpr double kMeanConstant = 0.01;  // of the peak
constexpr double kVarianceConstant = 0.03;

/// A normal distribution of `kWindow` weights, or as many as there are voxels; their sum is 1.
std::vector<double> window_along(std::int64_t size) {
  std::vector<double> weights(static_cast<std::size_t>(std::min(kWindow, size)));
  const double middle = static_cast<double>(weights.size() - 1) / 2;
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double away = (static_cast<double>(i) - middle) / kDeviation;
    sum += weights[i] = std::exp(-away * away / 2);
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Of one plane: both, their squares, and their product.
using Moments = std::array<std::vector<double>, 5>;

class SimilaritySum {
 public:
  SimilaritySum(const PerAxis& size, double peak)
      : size_(size),
        along_x_(window_along(size.x)),
        along_y_(window_along(size.y)),
        along_z_(window_along(size.z)),
        width_(size.x - static_cast<std::int64_t>(along_x_.size()) + 1),
        height_(size.y - static_cast<std::int64_t>(along_y_.size()) + 1),
        c1_(kMeanConstant * peak * kMeanConstant * peak),
        c2_(kVarianceConstant * peak * kVarianceConstant * peak),
        ring_(along_z_.size()) {}

  void add(const std::vector<double>& one, const std::vector<double>& other) {
    Moments& moments = ring_[planes_++ % ring_.size()];
    product_.resize(one.size());
    for (std::size_t moment = 0; moment < moments.size(); ++moment) {
      const std::vector<double>& a = moment == 1 || moment == 3 ? other : one;
      const std::vector<double>& b = moment == 2 ? one : other;
      for (std::size_t i = 0; i < one.size(); ++i) product_[i] = moment < 2 ? a[i] : a[i] * b[i];
      average(product_, moments[moment]);
    }
    if (planes_ >= ring_.size()) add_windows();
  }
  [[nodiscard]] double mean() const { return sum_ / static_cast<double>(windows_); }

 private:
  /// Along x and y, windows inside alone.
  void average(const std::vector<double>& plane, std::vector<double>& averages) {
    rows_.assign(static_cast<std::size_t>(width_ * size_.y), 0);
    for (std::int64_t y = 0; y < size_.y; ++y) {
      for (std::size_t tap = 0; tap < along_x_.size(); ++tap) {
        const double* const from = plane.data() + y * size_.x + static_cast<std::int64_t>(tap);
        double* const to = rows_.data() + y * width_;
        for (std::int64_t x = 0; x < width_; ++x) to[x] += along_x_[tap] * from[x];
      }
    }
    averages.assign(static_cast<std::size_t>(width_ * height_), 0);
    for (std::int64_t y = 0; y < height_; ++y) {
      for (std::size_t tap = 0; tap < along_y_.size(); ++tap) {
        const double* const from = rows_.data() + (y + static_cast<std::int64_t>(tap)) * width_;
        double* const to = averages.data() + y * width_;
        for (std::int64_t x = 0; x < width_; ++x) to[x] += along_y_[tap] * from[x];
      }
    }
  }

  /// The windows that end in the last plane.
  void add_windows() {
    const auto count = static_cast<std::size_t>(width_ * height_);
    for (std::size_t i = 0; i < count; ++i) {
      std::array<double, 5> m{};
      for (std::size_t tap = 0; tap < along_z_.size(); ++tap) {
        const Moments& plane = ring_[(planes_ + tap) % ring_.size()];  // the oldest first
        for (std::size_t moment = 0; moment < m.size(); ++moment) m[moment] += along_z_[tap] * plane[moment][i];
      }
      const double variances = m[2] - m[0] * m[0] + m[3] - m[1] * m[1], covariance = m[4] - m[0] * m[1];
      sum_ +=
          (2 * m[0] * m[1] + c1_) * (2 * covariance + c2_) / ((m[0] * m[0] + m[1] * m[1] + c1_) * (variances + c2_));
    }
    windows_ += count;
  }

  PerAxis size_;
  std::vector<double> along_x_, along_y_, along_z_;
  std::int64_t width_, height_;  ///< windows of a plane
  double c1_, c2_;
  std::vector<Moments> ring_;
  std::vector<double> product_, rows_;
  std::size_t planes_ = 0;
  std::size_t windows_ = 0;
  double sum_ = 0;
};

}  // namespace

double structural_similarity(const PlaneSource& one, const PlaneSource& other, const PerAxis& size, double peak) {
  SimilaritySum sum(size, peak);
  std::vector<double> plane(static_cast<std::size_t>(size.x * size.y)), other_plane(plane.size());
  for (std::int64_t z = 0; z < size.z; ++z) {
    stop_if_interrupted();
    one(z, plane);
    other(z, other_plane);
    sum.add(plane, other_plane);
  }
  return sum.mean();
}

}  // namespace tessera::tool
