// kernel_regression by warp groups: the queries of a warp's sums meet training rows. As of wgmma each query has the
// four lanes of a quad, which hold all its sums, so that warps need not wait for each other.
//
//   128 rows' sums, 32 of each lane -> keys, in place  ->  the least of the quad, and what is near beside it
//   keys that are near, with their numbers, go to the lane's own lists in shared memory, one after the other  ->  four
//   keys at a time  ->  weights  ->  the lane's own sums
//
// Of rows of bytes both queries of a lane are listed at once (kernel_regression_warp_both.cuh).
//
// Whatever a lane meets it adds for itself; the four lanes' sums of a query become one when the block of rows ends.
// Rows of bytes are added in the order of RegressionMeetingState with tiles of 128 rows. Sums of which there may be
// many lie in memory, and each belongs to one lane of the quad: the four show each other the weights that they have
// found, so that what is added in which order depends on the query and the rows alone.
#pragma once

#include "ops/kernel_regression/kernel_regression_warp_both.cuh"

namespace tessera::cuda {

/// How a warp meets rows. A problem with more than one output or with classes has sums in memory.
template <class T, bool kIsEuclidean, bool kHasSumsInMemory>
class WarpMeeting {
 public:
  using Arguments = RegressionTileArguments<T>;
  using Query = WarpQuery<T>;

  __device__ WarpMeeting(const Arguments& regression, RegressionWarpLists<T>& lists)
      : list_(lists, static_cast<int>(threadIdx.x) % 32), keys_(regression) {}

  /// A block of training rows begins.
  __device__ __forceinline__ void begin(const Arguments& regression, Query& query, std::int64_t block,
                                        std::int64_t number) const {
    const bool is_there = number < regression.queries_of_round;
    query.length = kIsEuclidean && is_there ? regression.query_lengths[number] : 0;
    query.least = is_there ? WarpKeys::kNone : WarpKeys::kNobody;
    query.reference = RegressionKey<T>::kFar;
    query.furthest = INT_MIN;
    query.nearest = -1;
    query.sums = {};
    if constexpr (kHasSumsInMemory) {
      if (is_there) RegressionState<T>(regression, block, number).clear(regression, own_part());
    }
  }

  /// The quad's queries g and g + 8, `upper` and `lower`, the first of which has this number, meet the rows of the
  /// block's tile `tile`. Targets lie at their places in shared memory.
  __device__ __forceinline__ void meet(const Arguments& regression, Query& upper, Query& lower, const int (&keys)[64],
                                       const double* targets, std::int64_t block, int tile, std::int64_t number) const {
    int least[4] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
#pragma unroll
    for (int i = 0; i < 64; i += 4) {
#pragma unroll
      for (int k = 0; k < 4; ++k) least[k] = min(least[k], keys[i + k]);
    }
    const Place place{block, tile, number};
    const Place lower_place{block, tile, number + 8};
    const int of_upper = min(least[0], least[1]);
    const int of_lower = min(least[2], least[3]);
    const int upper_quad = least_of_quad(of_upper);
    const int lower_quad = least_of_quad(of_lower);
    const bool is_upper_nearer = approach<0>(regression, upper, keys, of_upper, upper_quad, tile);
    const bool is_lower_nearer = approach<2>(regression, lower, keys, of_lower, lower_quad, tile);
    if (!any_lane(upper_quad <= upper.furthest || lower_quad <= lower.furthest)) return;
    const double* const own_targets = targets + static_cast<int>(threadIdx.x) % 4 * kWarpKeys;
    if constexpr (kListsBoth) {
      const RegressionWarpBoth<kIsEuclidean> both(list_, keys_);
      const RegressionWarpEnds all = both.template list<0, kWarpKeys>(keys, upper.furthest, lower.furthest);
      if (!any_lane(all.is_overfull())) {
        if (is_upper_nearer) settle(regression, upper, place);
        if (is_lower_nearer) settle(regression, lower, lower_place);
        both.add(regression, upper, lower, all, own_targets);
        return;
      }
    }
    if (is_upper_nearer) settle(regression, upper, place);
    if (is_lower_nearer) settle(regression, lower, lower_place);
    if constexpr (kListsBoth) {
      RegressionWarpBoth<kIsEuclidean>(list_, keys_).add_parts(regression, upper, lower, keys, own_targets);
    } else {
      if (any_lane(upper_quad <= upper.furthest)) add_near<0>(regression, upper, keys, own_targets, place);
      if (any_lane(lower_quad <= lower.furthest)) add_near<2>(regression, lower, keys, own_targets, lower_place);
    }
  }

  /// The block has been met: the query's state is written, by one of the quad's lanes.
  __device__ __forceinline__ void end(const Arguments& regression, Query& query, std::int64_t block,
                                      std::int64_t number, int writer) const {
    const bool has_met = query.reference != RegressionKey<T>::kFar;
    if (has_met) refer_to_least(regression, query, {block, 0, number});
    add_quad(query.sums.sum);
    add_quad(query.sums.squares);
    add_quad(query.sums.output);
    const int lane = static_cast<int>(threadIdx.x) % 4;
    int row = query.nearest < 0 ? INT_MAX
                                : query.nearest / kWarpKeys * kWarpRows + row_of_key(query.nearest % kWarpKeys, lane);
    row = min(row, __shfl_xor_sync(kAllLanes, row, 1));
    row = min(row, __shfl_xor_sync(kAllLanes, row, 2));
    if (number >= regression.queries_of_round || lane != writer) return;
    RegressionState<T> state(regression, block, number);
    if (has_met) {
      state.meet_nearest(block * regression.block_rows + row);
      state.set_sums(WarpKeys::distance(query.least, regression.query_lengths[number]), query.sums.sum,
                     query.sums.squares, query.sums.output);
    }
    state.write(regression);
  }

 private:
  using WarpKeys = RegressionWarpKeys<T, kIsEuclidean>;
  static constexpr int kAtOnce = 4;  ///< weights that a lane computes beside each other
  static_assert(kWarpPlaces % kAtOnce == 0);
  /// Words bring their numbers.
  static constexpr bool kListsBoth = std::is_same_v<T, std::uint8_t> && !kHasSumsInMemory;

  /// A tile of a block's rows that a query meets.
  struct Place {
    std::int64_t block;
    int tile;
    std::int64_t number;  ///< of the query
  };

  [[nodiscard]] static __device__ __forceinline__ RegressionPart own_part() {
    return {static_cast<int>(threadIdx.x) % 4, 4};
  }
  /// Of a tile, from the key's number in its lane of the quad.
  [[nodiscard]] static __device__ __forceinline__ int row_of_key(int number, int lane) {
    return number / 2 * 8 + number % 2 + lane * 2;
  }

  [[nodiscard]] static __device__ __forceinline__ int least_of_quad(int key) {
    key = min(key, __shfl_xor_sync(kAllLanes, key, 1));
    return min(key, __shfl_xor_sync(kAllLanes, key, 2));
  }
  static __device__ __forceinline__ void add_quad(double& sum) {
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    sum += __shfl_xor_sync(kAllLanes, sum, 2);
  }

  /// Takes over the least of the lane's own keys and of its quad's. Returns whether a row is nearer than all before:
  /// then settle() must follow before rows are added.
  template <int kPlace>
  __device__ __forceinline__ bool approach(const Arguments& regression, Query& query, const int (&keys)[64], int own,
                                           int quad, int tile) const {
    const int least = WarpKeys::key(quad);
    if (least >= query.least) return false;
    query.least = least;
    query.furthest = keys_.furthest(regression, least, query.length);
    query.nearest = -1;
    if constexpr (kListsBoth) {
      if (WarpKeys::key(own) == least) query.nearest = tile * kWarpKeys + (own & (kWarpKeys - 1));
    } else {
#pragma unroll
      for (int i = kWarpKeys - 1; i >= 0; --i) {
        if (key_of<kPlace>(keys, i) == least) query.nearest = tile * kWarpKeys + i;
      }
    }
    if (query.reference == RegressionKey<T>::kFar) query.reference = least;
    return true;
  }
  /// Another reference, if a nearer row weighs too much beside it.
  __device__ __forceinline__ void settle(const Arguments& regression, Query& query, const Place& place) const {
    if (query.reference > keys_.furthest_reference(regression, query.least, query.length)) {
      refer_to_least(regression, query, place);
    }
  }
  __device__ __forceinline__ void refer_to_least(const Arguments& regression, Query& query, const Place& place) const {
    if (query.reference == query.least) return;
    const double kept = WarpKeys::kept(regression, query.reference, query.least, query.length);
    query.sums.scale(kept);
    query.reference = query.least;
    if constexpr (kHasSumsInMemory) {
      RegressionState<T>(regression, place.block, place.number).scale_in_memory(regression, kept, own_part());
    }
  }

  /// Adds the rows near the query.
  template <int kPlace>
  __device__ __forceinline__ void add_near(const Arguments& regression, Query& query, const int (&keys)[64],
                                           const double* targets, const Place& place) const {
    int count = 0;
#pragma unroll
    for (int first = 0; first < kWarpKeys; first += kWarpListedAtOnce) {
#pragma unroll
      for (int i = first; i < first + kWarpListedAtOnce; ++i) {
        if (key_of<kPlace>(keys, i) > query.furthest) continue;
        list_.put(count, key_of<kPlace>(keys, i), i);
        ++count;
      }
      // The order in which sums in memory grow must not depend on what other queries of the warp have listed.
      const bool is_due = first + kWarpListedAtOnce == kWarpKeys || kHasSumsInMemory;
      if (!is_due && !any_lane(count > kWarpPlaces - kWarpListedAtOnce)) continue;
      add_listed(regression, query, count, targets, place);
      count = 0;
    }
  }
  __device__ __forceinline__ void add_listed(const Arguments& regression, Query& query, int count,
                                             const double* targets, const Place& place) const {
#pragma unroll 1
    for (int first = 0; any_lane(first < count); first += kAtOnce) {
      int numbers[kAtOnce];
      float weights[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const RegressionListed listed = list_.get(first + i);
        numbers[i] = listed.number;
        weights[i] = keys_.weight(regression, listed.key, query.reference, query.length);
        if (first + i >= count) weights[i] = 0;
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const auto weight = static_cast<double>(weights[i]);
        query.sums.add(weight, weights[i] == 0 ? 0 : targets[numbers[i]]);
      }
      if constexpr (kHasSumsInMemory) add_in_memory(regression, weights, numbers, place);
    }
  }
  /// The quad's lanes add the rows that one of them has found after the other, each to the sums that are its own.
  __device__ __forceinline__ void add_in_memory(const Arguments& regression, const float (&weights)[kAtOnce],
                                                const int (&numbers)[kAtOnce], const Place& place) const {
    const std::int64_t first_row = place.block * regression.block_rows + place.tile * kWarpRows;
    const int lane = static_cast<int>(threadIdx.x) % 4;
    int rows[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) rows[i] = row_of_key(numbers[i], lane);
    RegressionState<T>(regression, place.block, place.number)
        .template add_in_memory<4>(regression, weights, rows, regression.targets + first_row * regression.outputs, lane,
                                   place.number < regression.queries_of_round);
  }

  RegressionWarpList<T> list_;
  WarpKeys keys_;
};

}  // namespace tessera::cuda
