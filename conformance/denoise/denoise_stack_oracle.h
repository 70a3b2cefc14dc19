// The oracle's view of one stack: matrices and windows from their formulas, the transforms, the two ways to shrink.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::conformance {

using Matrix = std::vector<std::vector<double>>;

/// Row by row from the formulas, each number as float32 holds it.
[[nodiscard]] Matrix oracle_matrix(PatchTransform transform, std::int64_t side);
/// The product of the three axes' Kaiser windows for every voxel of a patch, each as float32 holds it.
[[nodiscard]] std::vector<double> oracle_window(const DenoiseStep& step);

/// Patches of one stack, each with x running fastest, and what is done to them.
template <class Real>
class StackOracle {
 public:
  explicit StackOracle(const DenoiseStep& step)
      : side_(step.patch),
        matrices_{oracle_matrix(step.transform, side_.x), oracle_matrix(step.transform, side_.y),
                  oracle_matrix(step.transform, side_.z)} {}

  using Patches = std::vector<std::vector<Real>>;

  void forward(Patches& stack) const {
    for (std::vector<Real>& patch : stack) transform(patch, false);
    // Means go to the front, where the next round takes them; differences stay behind them.
    for (std::size_t left = stack.size(); left > 1; left /= 2) {
      Patches next(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(left));
      for (std::size_t i = 0; i < left / 2; ++i) {
        combine(stack[2 * i], stack[2 * i + 1], next[i], next[left / 2 + i]);
      }
      std::move(next.begin(), next.end(), stack.begin());
    }
  }
  void backward(Patches& stack) const {
    for (std::size_t left = 2; left <= stack.size(); left *= 2) {
      Patches next(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(left));
      for (std::size_t i = 0; i < left / 2; ++i) {
        combine(stack[i], stack[left / 2 + i], next[2 * i], next[2 * i + 1]);
      }
      std::move(next.begin(), next.end(), stack.begin());
    }
    for (std::vector<Real>& patch : stack) transform(patch, true);
  }

 private:
  static void combine(const std::vector<Real>& a, const std::vector<Real>& b, std::vector<Real>& sums,
                      std::vector<Real>& differences) {
    const auto half = static_cast<Real>(static_cast<float>(std::numbers::sqrt2 / 2));
    for (std::size_t v = 0; v < a.size(); ++v) {
      sums[v] = (a[v] + b[v]) * half;
      differences[v] = (a[v] - b[v]) * half;
    }
  }
  void transform(std::vector<Real>& patch, bool is_inverse) const {
    const std::int64_t sides[] = {side_.x, side_.y, side_.z};
    const std::int64_t strides[] = {1, side_.x, side_.x * side_.y};
    for (int axis = 0; axis < 3; ++axis) {
      if (sides[axis] == 1) continue;
      const std::vector<Real> old = patch;
      const auto side = static_cast<std::size_t>(sides[axis]);
      const auto stride = static_cast<std::size_t>(strides[axis]);
      for (std::size_t begin = 0; begin < patch.size(); begin += side * stride) {
        for (std::size_t first = begin; first < begin + stride; ++first) {
          for (std::size_t row = 0; row < side; ++row) {
            Real sum = 0;
            for (std::size_t j = 0; j < side; ++j) {
              const auto& matrix = matrices_[axis];
              const double factor = is_inverse ? matrix[j][row] : matrix[row][j];
              const Real product = static_cast<Real>(factor) * old[first + j * stride];
              sum = j == 0 ? product : sum + product;
            }
            patch[first + row * stride] = sum;
          }
        }
      }
    }
  }

  PerAxis side_;
  Matrix matrices_[3];
};

}  // namespace tessera::conformance
