// kernel_regression, exact_bytes on Hopper: the queries of a warp's sums meet training rows. As of wgmma each query has
// the four lanes of a quad, which hold all its sums, so that warps need not wait for each other.
//
//   128 rows' sums, 32 of each lane -> keys, in place  ->  the least of the quad, and what is near beside it
//   keys that are near, with their numbers, go to the lane's own list in shared memory, one after the other  ->  four
//   keys at a time  ->  weights  ->  the lane's own sums
//
// Whatever a lane meets it adds for itself; the four lanes' sums of a query become one when the block of rows ends.
// What is added, and in which order, is as RegressionMeetingState has it with tiles of 128 rows.
#pragma once

#include "ops/kernel_regression/kernel_regression_meeting_state.cuh"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

namespace tessera::cuda {

/// A row that is not there, so that no difference of keys passes an int; and what no key of a row reaches, so that a
/// key and its number share a word.
inline constexpr int kWarpNoLength = 1 << 30, kWarpMostKey = 1 << 26;
/// The least key of a query that is not there: nothing is near it.
inline constexpr int kWarpNobody = -(1 << 30);
static_assert(kWideMostDepth * 255 * 255 < kWarpMostKey);

/// Keys of a query that a lane has of 128 rows; places of its list, and keys between which that is looked at.
inline constexpr int kWarpKeys = 32, kWarpPlaces = 16, kWarpListedAtOnce = 8;

/// The lists of a warp's lanes, side by side.
struct RegressionWarpLists {
  int words[kWarpPlaces][32];
};

/// Where a tile's row has its target: what a lane of a quad needs lies together.
[[nodiscard]] __device__ __forceinline__ constexpr int place_of_target(int row) {
  return row % 8 / 2 * kWarpKeys + row / 8 * 2 + row % 2;
}

/// A lane's part of a query of its quad.
struct WarpQuery {
  int length = 0;  ///< for roots alone
  int least;       ///< the same in all four lanes, as is the reference
  int reference;
  int nearest;  ///< the lane's first key that is as near as the nearest so far; -1: none
  RegressionByteSums sums;
};

/// How a warp meets rows, of a problem with one output and without classes.
template <bool kIsEuclidean>
class WarpMeeting {
 public:
  using Arguments = RegressionTileArguments<std::uint8_t>;
  using Keys = RegressionKey<std::uint8_t>;

  __device__ WarpMeeting(const Arguments& regression, RegressionWarpLists& lists)
      : list_(&lists.words[0][threadIdx.x % 32]), reach_(regression), factor_(regression.factor) {}

  /// A block of training rows begins.
  __device__ __forceinline__ void begin(const Arguments& regression, WarpQuery& query, std::int64_t number) const {
    const bool is_there = number < regression.queries_of_round;
    query.length = kIsEuclidean && is_there ? regression.query_lengths[number] : 0;
    query.least = is_there ? kWarpMostKey : kWarpNobody;
    query.reference = Keys::kFar;
    query.nearest = -1;
    query.sums = {};
  }

  /// The quad's queries g and g + 8, `upper` and `lower`, meet the rows of the block's tile `tile`. Lengths, and
  /// targets at their places, lie in shared memory.
  __device__ __forceinline__ void meet(const Arguments& regression, WarpQuery& upper, WarpQuery& lower, int (&sum)[64],
                                       const int* lengths, const double* targets, int tile) const {
    const int column = static_cast<int>(threadIdx.x) % 4 * 2;
    int least[4] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
#pragma unroll
    for (int i = 0; i < 64; i += 4) {
      const int2 two = *reinterpret_cast<const int2*>(lengths + i * 2 + column);
      sum[i] = two.x - 2 * sum[i];
      sum[i + 1] = two.y - 2 * sum[i + 1];
      sum[i + 2] = two.x - 2 * sum[i + 2];
      sum[i + 3] = two.y - 2 * sum[i + 3];
#pragma unroll
      for (int k = 0; k < 4; ++k) least[k] = min(least[k], sum[i + k]);
    }
    const bool is_upper_near = approach<0>(regression, upper, sum, min(least[0], least[1]), tile);
    const bool is_lower_near = approach<2>(regression, lower, sum, min(least[2], least[3]), tile);
    const double* const own_targets = targets + column / 2 * kWarpKeys;
    if (any(is_upper_near)) add_near<0>(regression, upper, sum, own_targets);
    if (any(is_lower_near)) add_near<2>(regression, lower, sum, own_targets);
  }

  /// The block has been met: the query's state is written, by one of the quad's lanes.
  __device__ __forceinline__ void end(const Arguments& regression, WarpQuery& query, std::int64_t block,
                                      std::int64_t number, int writer) const {
    if (query.reference != Keys::kFar) refer_to_least(regression, query);
    add_quad(query.sums.sum);
    add_quad(query.sums.squares);
    add_quad(query.sums.output);
    const int lane = static_cast<int>(threadIdx.x) % 4;
    int row = query.nearest < 0 ? INT_MAX
                                : query.nearest / kWarpKeys * kWideRows + query.nearest % kWarpKeys / 2 * 8 +
                                      query.nearest % 2 + lane * 2;
    row = min(row, __shfl_xor_sync(kAllLanes, row, 1));
    row = min(row, __shfl_xor_sync(kAllLanes, row, 2));
    if (number >= regression.queries_of_round || lane != writer) return;
    RegressionState<std::uint8_t> state(regression, block, number);
    if (query.reference != Keys::kFar) {
      state.meet_nearest(block * regression.block_rows + row);
      const int length = regression.query_lengths[number];
      state.set_sums(static_cast<double>(Keys::distance(query.least, length)), query.sums.sum, query.sums.squares,
                     query.sums.output);
    }
    state.write(regression);
  }

 private:
  static constexpr int kAtOnce = 4;  ///< weights that a lane computes beside each other
  static_assert(kWarpKeys == 1 << 5 && kWarpPlaces % kAtOnce == 0);
  static constexpr unsigned kAllLanes = 0xffffffffU;

  [[nodiscard]] static __device__ __forceinline__ bool any(bool mine) {
    return __any_sync(kAllLanes, mine) != 0;
  }

  static __device__ __forceinline__ void add_quad(double& sum) {
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    sum += __shfl_xor_sync(kAllLanes, sum, 2);
  }

  /// Key i of the query whose keys are kPlace and kPlace + 1 of every four.
  template <int kPlace>
  [[nodiscard]] static __device__ __forceinline__ int key(const int (&sum)[64], int i) {
    return sum[i / 2 * 4 + kPlace + i % 2];
  }

  /// Is the least of the quad's keys, of which this is the lane's, near?
  template <int kPlace>
  __device__ __forceinline__ bool approach(const Arguments& regression, WarpQuery& query, const int (&sum)[64],
                                           int least, int tile) const {
    least = min(least, __shfl_xor_sync(kAllLanes, least, 1));
    least = min(least, __shfl_xor_sync(kAllLanes, least, 2));
    if (least < query.least) {
      query.least = least;
      query.nearest = -1;
#pragma unroll
      for (int i = kWarpKeys - 1; i >= 0; --i) {
        if (key<kPlace>(sum, i) == least) query.nearest = tile * kWarpKeys + i;
      }
      if (query.reference == Keys::kFar) query.reference = least;
      if (query.reference > reach_.template furthest_reference<kIsEuclidean>(regression, least, query.length)) {
        refer_to_least(regression, query);
      }
    }
    return least <= furthest(regression, query);
  }
  /// What is further away weighs nothing. Of squared distances it takes an addition, and no register meanwhile.
  [[nodiscard]] __device__ __forceinline__ int furthest(const Arguments& regression, const WarpQuery& query) const {
    return min(reach_.template furthest<kIsEuclidean>(regression, query.least, query.length), kWarpMostKey);
  }
  static __device__ __forceinline__ void refer_to_least(const Arguments& regression, WarpQuery& query) {
    if (query.reference == query.least) return;
    // What both keys of squared distances are short of is not in their difference.
    query.sums.scale(kIsEuclidean ? kept_of_bytes(regression, query.reference, query.least, query.length)
                                  : kept_weight(query.reference, query.least, regression.factor, false));
    query.reference = query.least;
  }

  /// Adds the rows near the query.
  template <int kPlace>
  __device__ __forceinline__ void add_near(const Arguments& regression, WarpQuery& query, const int (&sum)[64],
                                           const double* targets) const {
    const int furthest_key = furthest(regression, query);
    int count = 0;
#pragma unroll
    for (int first = 0; first < kWarpKeys; first += kWarpListedAtOnce) {
#pragma unroll
      for (int i = first; i < first + kWarpListedAtOnce; ++i) {
        if (key<kPlace>(sum, i) > furthest_key) continue;
        list_[count * 32] = key<kPlace>(sum, i) * kWarpKeys + i;
        ++count;
      }
      const bool is_last = first + kWarpListedAtOnce == kWarpKeys;
      if (!is_last && !any(count > kWarpPlaces - kWarpListedAtOnce)) continue;
      add_listed(regression, query, count, targets);
      count = 0;
    }
  }
  __device__ __forceinline__ void add_listed(const Arguments& regression, WarpQuery& query, int count,
                                             const double* targets) const {
#pragma unroll 1
    for (int first = 0; any(first < count); first += kAtOnce) {
      int words[kAtOnce];
      float weights[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        words[i] = list_[(first + i) * 32];
        weights[i] = byte_weight<kIsEuclidean>(regression, factor_, words[i] >> 5, query.reference, query.length);
        if (first + i >= count) weights[i] = 0;
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const auto weight = static_cast<double>(weights[i]);
        query.sums.add(weight, weights[i] == 0 ? 0 : targets[words[i] & (kWarpKeys - 1)]);
      }
    }
  }

  int* list_;
  RegressionByteReach reach_;
  RegressionByteFactor factor_;
};

}  // namespace tessera::cuda
