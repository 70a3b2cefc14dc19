// kernel_regression by warp groups, rows of bytes: the near rows of both queries of a lane are listed side by side, and
// added side by side. Their sums are apart; each grows in the order of its rows.
//
// Listing takes a comparison, a store and an addition for each key. Then keys are no longer needed, and their registers
// hold the weights of several rows at once. Mostly a lane's places hold what is near of a tile; where they do not, keys
// are listed again, so few at a time that they do.
#pragma once

#include "ops/kernel_regression/kernel_regression_warp_keys.cuh"

namespace tessera::cuda {

template <bool kIsEuclidean>
class RegressionWarpBoth {
 public:
  using Arguments = RegressionTileArguments<std::uint8_t>;
  using Query = WarpQuery<std::uint8_t>;

  __device__ RegressionWarpBoth(const RegressionWarpList<std::uint8_t>& list,
                                const RegressionWarpKeys<std::uint8_t, kIsEuclidean>& keys)
      : list_(list), keys_(keys) {}
  /// Lists kCount of the lane's keys of each query.
  template <int kFirst, int kCount>
  [[nodiscard]] __device__ __forceinline__ RegressionWarpEnds list(const int (&keys)[64], int upper_furthest,
                                                                   int lower_furthest) const {
    RegressionWarpEnds ends(list_);
#pragma unroll
    for (int i = kFirst; i < kFirst + kCount; ++i) {
      if (key_of<0>(keys, i) <= upper_furthest) ends.put_upper(key_of<0>(keys, i));
      if (key_of<2>(keys, i) <= lower_furthest) ends.put_lower(key_of<2>(keys, i));
    }
    return ends;
  }
  /// Lists so few keys at a time that there is room for all, and adds their rows.
  __device__ __forceinline__ void add_parts(const Arguments& regression, Query& upper, Query& lower,
                                            const int (&keys)[64], const double* targets) const {
    constexpr int kPart = kWarpPlaces / 2;
    static_assert(kWarpKeys == 4 * kPart);
    // The compiler would keep what it has compared before, in registers that there are not.
    const int upper_furthest = __shfl_sync(kAllLanes, upper.furthest, 0, 4);
    const int lower_furthest = __shfl_sync(kAllLanes, lower.furthest, 0, 4);
    const auto add_part = [&](const RegressionWarpEnds& ends) { add(regression, upper, lower, ends, targets); };
    add_part(list<0, kPart>(keys, upper_furthest, lower_furthest));
    add_part(list<kPart, kPart>(keys, upper_furthest, lower_furthest));
    add_part(list<2 * kPart, kPart>(keys, upper_furthest, lower_furthest));
    add_part(list<3 * kPart, kPart>(keys, upper_furthest, lower_furthest));
  }
  /// Adds the rows that both lists hold.
  __device__ __forceinline__ void add(const Arguments& regression, Query& upper, Query& lower,
                                      const RegressionWarpEnds& ends, const double* targets) const {
    const int upper_count = ends.upper_count();
    const int lower_count = ends.lower_count();
    const int most = max(upper_count, lower_count);
#pragma unroll 1
    for (int first = 0; any_lane(first < most); first += kAtOnce) {
      Weighed of_upper[kAtOnce], of_lower[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        of_upper[i] = weigh(regression, upper, first + i, first + i < upper_count, targets);
        of_lower[i] = weigh(regression, lower, kWarpPlaces - 1 - first - i, first + i < lower_count, targets);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        add_row(upper, of_upper[i]);
        add_row(lower, of_lower[i]);
      }
    }
  }

 private:
  /// Rows of each query that a lane computes beside each other: mostly none has more than twice as many in a tile.
  static constexpr int kAtOnce = 4;
  static_assert(RegressionWarpEnds::kMost <= kWarpPlaces && kWarpPlaces % kAtOnce == 0);

  struct Weighed {
    float weight;
    double target;
  };
  [[nodiscard]] __device__ __forceinline__ Weighed weigh(const Arguments& regression, const Query& query, int place,
                                                         bool is_listed, const double* targets) const {
    const RegressionListed listed = list_.get(place);
    const float weight = keys_.weight(regression, listed.key, query.reference, query.length);
    return {is_listed ? weight : 0, targets[listed.number]};
  }
  /// A row without a weight is none, whatever its target is.
  static __device__ __forceinline__ void add_row(Query& query, const Weighed& row) {
    if (row.weight != 0) query.sums.add(static_cast<double>(row.weight), row.target);
  }

  const RegressionWarpList<std::uint8_t>& list_;
  const RegressionWarpKeys<std::uint8_t, kIsEuclidean>& keys_;
};

}  // namespace tessera::cuda
