// The random probe over a large C.
#include "conformance/gemm/gemm_probe.h"

#include <algorithm>
#include <cmath>

#include "conformance/inputs.h"

namespace tessera::conformance {

template <class T>
GemmProbe<T>::GemmProbe(const GemmInputs<T>& inputs, std::uint64_t seed)
    : rows_(inputs.problem.m), columns_(inputs.problem.n), blocks_((columns_ + kBlockColumns - 1) / kBlockColumns) {
  const auto cells = static_cast<double>(rows_ * blocks_);
  // A correct result fails one of the cells with a probability of at most 2^-40.
  confidence_ = std::sqrt(2 * std::log(2 * cells * std::ldexp(1.0, 40)));
  rounding_ = gamma(static_cast<double>(inputs.problem.k + kBlockColumns + 4), std::ldexp(1.0, -53));
  for (std::int64_t j = 0; j < columns_; ++j) {
    signs_.push_back((random_bits(seed, static_cast<std::uint64_t>(j)) >> 63) != 0 ? 1.0 : -1.0);
  }
  std::vector<double> signed_sums;
  std::vector<double> norms;
  multiply_b(inputs, signed_sums, norms);
  const auto size = static_cast<std::size_t>(rows_ * blocks_);
  expected_.assign(size, 0);
  kernel_part_.assign(size, 0);
  own_part_.assign(size, 0);
  for (std::int64_t row = 0; row < rows_; ++row) add_row(inputs, row, signed_sums, norms);
}

template <class T>
std::int64_t GemmProbe<T>::block_width(std::int64_t block) const {
  return std::min(kBlockColumns, columns_ - block * kBlockColumns);
}

template <class T>
void GemmProbe<T>::multiply_b(const GemmInputs<T>& inputs, std::vector<double>& signed_sums,
                              std::vector<double>& norms) const {
  const std::int64_t k = inputs.problem.k;
  signed_sums.assign(static_cast<std::size_t>(k * blocks_), 0);
  norms.assign(signed_sums.size(), 0);
  for (std::int64_t p = 0; p < k; ++p) {
    for (std::int64_t j = 0; j < columns_; ++j) {
      const double b = inputs.b_at(p, j);
      signed_sums[p * blocks_ + j / kBlockColumns] += b * signs_[j];
      norms[p * blocks_ + j / kBlockColumns] += b * b;
    }
  }
  for (double& norm : norms) norm = std::sqrt(norm);
}

template <class T>
void GemmProbe<T>::add_row(const GemmInputs<T>& inputs, std::int64_t row, std::span<const double> signed_sums,
                           std::span<const double> norms) {
  std::vector<double> products(static_cast<std::size_t>(blocks_), 0);
  std::vector<double> magnitudes(products.size(), 0);
  const std::int64_t k = inputs.alpha != 0 ? inputs.problem.k : 0;
  const double factor = k > 0 ? inputs.alpha : 0;  // alpha is not looked at where there is nothing to scale
  for (std::int64_t p = 0; p < k; ++p) {
    const double a = inputs.a_at(row, p);
    for (std::int64_t block = 0; block < blocks_; ++block) {
      products[block] += a * signed_sums[p * blocks_ + block];
      magnitudes[block] += std::abs(a) * norms[p * blocks_ + block];
    }
  }
  const SumBound bound = gemm_bound(inputs.problem, inputs.alpha, inputs.beta);
  for (std::int64_t block = 0; block < blocks_; ++block) {
    const double width_root = std::sqrt(static_cast<double>(block_width(block)));
    double c_sum = 0;
    double c_square = 0;
    double c_magnitude = 0;
    for (std::int64_t j = 0; inputs.beta != 0 && j < block_width(block); ++j) {
      const double c = inputs.c_at(row, block * kBlockColumns + j);
      c_sum += c * signs_[block * kBlockColumns + j];
      c_square += c * c;
      c_magnitude += std::abs(c);
    }
    const double alpha = std::abs(factor);
    const double beta = std::abs(inputs.beta);
    const std::int64_t cell = row * blocks_ + block;
    expected_[cell] = factor * products[block] + inputs.beta * c_sum;
    kernel_part_[cell] =
        bound.relative * (alpha * magnitudes[block] + beta * std::sqrt(c_square)) + bound.absolute * width_root;
    own_part_[cell] = rounding_ * (alpha * width_root * magnitudes[block] + beta * c_magnitude);
  }
}

template <class T>
std::string GemmProbe<T>::check(std::span<const T> c, std::int64_t stride, double error_factor) const {
  for (std::int64_t row = 0; row < rows_; ++row) {
    for (std::int64_t block = 0; block < blocks_; ++block) {
      const std::int64_t first = block * kBlockColumns;
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t j = first; j < first + block_width(block); ++j) {
        const double found = c[row * stride + j];
        sum += found * signs_[j];
        magnitude += std::abs(found);
      }
      const std::int64_t cell = row * blocks_ + block;
      const double own = (own_part_[cell] + rounding_ * magnitude) * bound_rounding(static_cast<double>(columns_));
      const Expected expected{{expected_[cell], 0}, confidence_ * error_factor * kernel_part_[cell] + own};
      // Written so that a NaN anywhere fails.
      if (!(std::abs(sum - expected.value.high) <= expected.bound)) {
        return "the probe of C(" + std::to_string(row) + ", " + std::to_string(first) + ".." +
               std::to_string(first + block_width(block) - 1) + ") " + describe_difference(sum, expected);
      }
    }
  }
  return "";
}

template class GemmProbe<float>;
template class GemmProbe<double>;

}  // namespace tessera::conformance
