// The inner parts of "fused" beside the products: distances from dot products, and weights from distances, in the best
// instruction set that the processor has.
#pragma once

#include <cstdint>

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

}  // namespace tessera::cpu_tbb
