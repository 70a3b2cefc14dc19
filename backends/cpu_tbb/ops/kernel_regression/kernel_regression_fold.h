// The inner parts of "fused" beside the products: distances from dot products, and weights from distances, in the best
// instruction set that the processor has. And what "exact_bytes" does alike: it goes over the weights that are not 0.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ops/kernel_regression/kernel_regression_state.h"

namespace tessera::cpu_tbb {

/// Distances and weights are computed for so many rows at a time: a multiple of every vector's lanes.
inline constexpr std::int64_t kFoldStep = 32;

/// squared[i] = max(0, query_length + lengths[i] - 2 * dots[i]) in the place of the dots, and returns the least.
/// `rows` is a multiple of kFoldStep.
template <class T>
[[nodiscard]] T fold_distances(T* dots, const T* lengths, T query_length, std::int64_t rows);

/// How distances become weights, in T.
template <class T>
struct FoldWeights {
  bool is_euclidean = false;
  T factor = 0;    ///< of the exponent; finite
  T least = 0;     ///< what weighs 1
  T furthest = 0;  ///< what is further away weighs 0; finite
};
/// weights[i] = the weight of squared[i], 0 beyond the furthest.
template <class T>
void fold_weights(const FoldWeights<T>& how, const T* squared, std::int64_t rows, T* weights);

/// Sums over the rows with such weights, with a target each.
template <class T>
[[nodiscard]] RegressionWeights fold_sums(const T* weights, const T* targets, std::int64_t rows);

/// Calls `use` with the number of each of the first `rows` weights that is not 0, in their order; most steps have none.
/// The last step may be read as a whole.
template <class T, class Use>
void for_each_weight(const T* weights, std::int64_t rows, const Use& use) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  for (std::int64_t first = 0; first < rows; first += kFoldStep) {
    // As whole numbers, which compilers join in vectors; they do not compare floats so.
    std::array<Bits, kFoldStep> step;
    std::memcpy(step.data(), weights + first, sizeof(step));
    Bits all = 0;
    for (const Bits bits : step) all |= bits;
    if (all == 0) continue;
    const std::int64_t end = std::min(rows, first + kFoldStep);
    for (std::int64_t i = first; i < end; ++i) {
      if (step[static_cast<std::size_t>(i - first)] != 0) use(i);
    }
  }
}

}  // namespace tessera::cpu_tbb
