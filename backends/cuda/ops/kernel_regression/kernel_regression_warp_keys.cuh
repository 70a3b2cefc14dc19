// kernel_regression by warp groups: the keys as which a lane holds distances, in the places of a tile's sums. What
// orders them and what they weigh is told apart by the rows' type here; all else of a warp's meeting is the same
// (kernel_regression_warp_meeting.cuh).
#pragma once

#include "ops/kernel_regression/kernel_regression_warp_lists.cuh"

namespace tessera::cuda {

/// Where a tile's row has its target: what a lane of a quad needs lies together.
[[nodiscard]] __device__ __forceinline__ constexpr int place_of_target(int row) {
  return row % 8 / 2 * kWarpKeys + row / 8 * 2 + row % 2;
}

/// Key i of the query whose keys are kPlace and kPlace + 1 of every four.
template <int kPlace>
[[nodiscard]] __device__ __forceinline__ int key_of(const int (&keys)[64], int i) {
  return keys[i / 2 * 4 + kPlace + i % 2];
}

[[nodiscard]] __device__ __forceinline__ bool any_lane(bool mine) {
  return __any_sync(kAllLanes, mine) != 0;
}

/// A lane's part of a query of its quad.
template <class T>
struct WarpQuery {
  typename RegressionTileArguments<T>::Length length = 0;  ///< of bytes, for roots alone
  int least;                                               ///< the same in all four lanes, as is the reference
  int reference;
  int furthest;  ///< keys beyond it weigh nothing
  int nearest;   ///< the lane's first key that is as near as the nearest so far; -1: none
  RegressionSums sums;
};

template <class T, bool kIsEuclidean>
class RegressionWarpKeys;

/// Squared lengths of rows less twice the products: whole numbers that are short of a query's own squared length.
template <bool kIsEuclidean>
class RegressionWarpKeys<std::uint8_t, kIsEuclidean> {
 public:
  using Arguments = RegressionTileArguments<std::uint8_t>;
  using Keys = RegressionKey<std::uint8_t>;
  /// The least key of a query that has met no row, and of one that is not there: nothing is nearer than that.
  static constexpr int kNone = kWarpMostKey, kNobody = -kWarpMostKey;

  __device__ explicit RegressionWarpKeys(const Arguments& regression)
      : reach_(regression), factor_(regression.factor) {}
  /// The key in a word.
  [[nodiscard]] static __device__ __forceinline__ int key(int word) { return word >> 5; }
  /// Words beyond it weigh nothing beside a row with the key `least`.
  [[nodiscard]] __device__ __forceinline__ int furthest(const Arguments& regression, int least, int length) const {
    const int key = min(reach_.template furthest<kIsEuclidean>(regression, least, length), kWarpMostKey - 2);
    return key * kWarpKeys + kWarpKeys - 1;
  }
  [[nodiscard]] __device__ __forceinline__ int furthest_reference(const Arguments& regression, int least,
                                                                  int length) const {
    return reach_.template furthest_reference<kIsEuclidean>(regression, least, length);
  }
  [[nodiscard]] __device__ __forceinline__ float weight(const Arguments& regression, int key, int reference,
                                                        int length) const {
    return byte_weight<kIsEuclidean>(regression, factor_, key, reference, length);
  }
  [[nodiscard]] static __device__ __forceinline__ double kept(const Arguments& regression, int reference, int least,
                                                              int length) {
    // What both keys of squared distances are short of is not in their difference.
    return kIsEuclidean ? kept_of_bytes(regression, reference, least, length)
                        : kept_weight(reference, least, regression.factor, false);
  }
  [[nodiscard]] static __device__ __forceinline__ double distance(int key, int length) {
    return static_cast<double>(Keys::distance(key, length));
  }

 private:
  RegressionByteReach reach_;
  RegressionFactor factor_;
};

/// Distances that are not below 0, by their bits.
template <bool kIsEuclidean>
class RegressionWarpKeys<float, kIsEuclidean> {
 public:
  using Arguments = RegressionTileArguments<float>;
  using Keys = RegressionKey<float>;
  /// A query that is not there is infinitely far from all rows.
  static constexpr int kNone = Keys::kFar, kNobody = Keys::kFar;

  __device__ explicit RegressionWarpKeys(const Arguments& regression) : factor_(regression.factor) {}
  [[nodiscard]] static __device__ __forceinline__ int key(int key) { return key; }
  [[nodiscard]] __device__ __forceinline__ int furthest(const Arguments& regression, int least, float) const {
    return beyond(least, regression.reach);
  }
  [[nodiscard]] __device__ __forceinline__ int furthest_reference(const Arguments& regression, int least, float) const {
    return beyond(least, kReferenceReach * regression.reach);
  }
  [[nodiscard]] __device__ __forceinline__ float weight(const Arguments& regression, int key, int reference,
                                                        float) const {
    if constexpr (kIsEuclidean) {
      return regression_weight<float>(regression.factor, true, Keys::number(key), Keys::number(reference));
    } else {
      const float below = Keys::number(reference) - Keys::number(key);
      return normal_power_of_2(fmaf(below, factor_.high, below * factor_.low));
    }
  }
  [[nodiscard]] static __device__ __forceinline__ double kept(const Arguments& regression, int reference, int least,
                                                              float length) {
    return kept_weight(distance(reference, length), distance(least, length), regression.factor, kIsEuclidean);
  }
  [[nodiscard]] static __device__ __forceinline__ double distance(int key, float) {
    return static_cast<double>(Keys::number(key));
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ int beyond(int least, double reach) {
    return Keys::of_distance(furthest_from(static_cast<double>(Keys::number(least)), reach, kIsEuclidean), 0);
  }

  RegressionFactor factor_;
};

}  // namespace tessera::cuda
