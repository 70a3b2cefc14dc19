// What nonlocal_means must give, from its definition (docs/decisions/0020): plain loops, voxel by voxel, that nobody
// optimises and that share no code with any backend. Compiled without fused products, as the definition demands.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::conformance {

/// Of a problem with all its parameters.
template <class T>
class MeansOracle {
 public:
  /// The volume must outlive it.
  MeansOracle(const NonlocalMeans& problem, std::span<const T> volume);

  /// One voxel of the result, bit for bit; channel after channel.
  [[nodiscard]] T voxel(std::int64_t index) const;
  /// The same by the formulas that the definition approximates, in double and of voxels as they are.
  [[nodiscard]] double in_double(std::int64_t index) const;

 private:
  /// Of a voxel's channel over its candidates.
  template <class Number>
  struct Sums {
    Number voxels = 0;
    Number weights = 0;
  };
  template <class Distance, class Number, class Weigh>
  [[nodiscard]] Sums<Number> sums(const std::vector<Number>& numbers, std::int64_t index, const Weigh& weigh) const;
  [[nodiscard]] std::int64_t weight(std::uint64_t distance) const;

  NonlocalMeans problem_;
  std::span<const T> volume_;
  int exponent_ = 0;  ///< of floats: voxels are whole numbers of 2^(exponent - 19)
  std::uint64_t noise_ = 0;
  std::uint64_t reach_ = 0;
  float steps_ = 0;
  std::vector<std::int64_t> weights_;
  std::vector<std::int64_t> numbers_;  ///< the volume's
  std::vector<double> reals_;
};

extern template class MeansOracle<std::uint8_t>;
extern template class MeansOracle<std::uint16_t>;
extern template class MeansOracle<float>;

}  // namespace tessera::conformance
