// A random probe over the whole of a large C: each row, 256 columns at a time, is multiplied by random signs and
// compared with A (B x) in double (Freivalds' check). Finds wrong blocks that lie between the sampled elements. The
// bound is derived in README.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/gemm/gemm_oracle.h"

namespace tessera::conformance {

template <class T>
class GemmProbe {
 public:
  /// Inputs must be finite. Keeps no reference to them.
  GemmProbe(const GemmInputs<T>& inputs, std::uint64_t seed);

  /// "" if `c`, rows `stride` elements apart, fits A and B, else a sentence that names the first block that does not.
  [[nodiscard]] std::string check(std::span<const T> c, std::int64_t stride, double error_factor) const;

 private:
  static constexpr std::int64_t kBlockColumns = 256;

  [[nodiscard]] std::int64_t block_width(std::int64_t block) const;
  void multiply_b(const GemmInputs<T>& inputs, std::vector<double>& signed_sums, std::vector<double>& norms) const;
  void add_row(const GemmInputs<T>& inputs, std::int64_t row, std::span<const double> signed_sums,
               std::span<const double> norms);

  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t blocks_ = 0;
  double rounding_ = 0;              // gamma of the probe's own sums in double
  double confidence_ = 0;            // lambda of the bound
  std::vector<double> signs_;        // x
  std::vector<double> expected_;     // rows x blocks: alpha A (B x) + beta C x
  std::vector<double> kernel_part_;  // rows x blocks: what the strict algorithm may be off
  std::vector<double> own_part_;     // rows x blocks: what the probe itself may be off, without the found C's share
};

extern template class GemmProbe<float>;
extern template class GemmProbe<double>;

}  // namespace tessera::conformance
