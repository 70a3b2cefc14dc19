// kernel_regression, exact_bytes on Hopper: the queries of a warp's sums meet training rows. As of wgmma each query has
// the four lanes of a quad, which hold all its sums, so that warps need not wait for each other.
//
//   128 rows' sums, 32 of each lane -> keys, in place  ->  the least of the quad, and what is near beside it
//   a bit for each key that is near  ->  four keys at a time, from the lane's own place in shared memory: registers
//                                        cannot be chosen by a number  ->  weights  ->  the lane's own sums
//
// Whatever a lane meets it adds for itself; the four lanes' sums of a query become one when the block of rows ends.
// What is added, and in which order, is as RegressionMeetingState has it with tiles of 128 rows.
#pragma once

#include "ops/kernel_regression/kernel_regression_meeting_state.cuh"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

namespace tessera::cuda {

/// A row that is not there, so that no difference of keys passes an int; and what no key of a row passes.
inline constexpr int kWarpNoLength = 1 << 30, kWarpMostKey = 1 << 29;
static_assert(kWideMostDepth * 255 * 255 < kWarpMostKey);

/// Keys of a query that a lane has of 128 rows.
inline constexpr int kWarpKeys = 32;

/// A warp's keys of one query of each quad: key i of a lane lies in its four of group i / 4.
struct RegressionWarpKeys {
  alignas(16) int4 fours[kWarpKeys / 4][32];
};

/// Where a tile's row has its target: what a lane of a quad needs lies together, the last first, as its keys do.
[[nodiscard]] __device__ __forceinline__ constexpr int place_of_target(int row) {
  return row % 8 / 2 * kWarpKeys + kWarpKeys - 1 - (row / 8 * 2 + row % 2);
}

/// A lane's part of a query of its quad.
struct WarpQuery {
  int length = 0;
  int least;  ///< the same in all four lanes, as are the next two
  int furthest;
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

  __device__ WarpMeeting(const Arguments& regression, RegressionWarpKeys& keys)
      : keys_(&keys.fours[0][threadIdx.x % 32]), reach_(regression), factor_(regression.factor) {}

  /// A block of training rows begins.
  __device__ __forceinline__ void begin(const Arguments& regression, WarpQuery& query, std::int64_t number) const {
    const bool is_there = number < regression.queries_of_round;
    query.length = is_there ? regression.query_lengths[number] : 0;
    query.least = is_there ? kWarpMostKey : -1;  // keys of a query that is not there are lengths
    query.furthest = query.least;
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
    const bool is_upper_near = approach(regression, upper, min(least[0], least[1]));
    const bool is_lower_near = approach(regression, lower, min(least[2], least[3]));
    const double* const own_targets = targets + column / 2 * kWarpKeys;
    if (any(is_upper_near)) add_near<0>(regression, upper, sum, own_targets, tile);
    if (any(is_lower_near)) add_near<2>(regression, lower, sum, own_targets, tile);
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
      state.set_sums(static_cast<double>(Keys::distance(query.least, query.length)), query.sums.sum, query.sums.squares,
                     query.sums.output);
    }
    state.write(regression);
  }

 private:
  static constexpr int kAtOnce = 4;  ///< weights that a lane computes beside each other
  static constexpr unsigned kAllLanes = 0xffffffffU;

  [[nodiscard]] static __device__ __forceinline__ bool any(bool mine) {
    return __any_sync(kAllLanes, mine) != 0;
  }

  static __device__ __forceinline__ void add_quad(double& sum) {
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    sum += __shfl_xor_sync(kAllLanes, sum, 2);
  }

  /// Is the least of the quad's keys, of which this is the lane's, near?
  __device__ __forceinline__ bool approach(const Arguments& regression, WarpQuery& query, int least) const {
    least = min(least, __shfl_xor_sync(kAllLanes, least, 1));
    least = min(least, __shfl_xor_sync(kAllLanes, least, 2));
    const bool is_near = least <= query.furthest;
    if (least < query.least) {
      query.least = least;
      query.nearest = -1;
      query.furthest = min(reach_.template furthest<kIsEuclidean>(regression, least, query.length), kWarpMostKey);
      if (query.reference == Keys::kFar) query.reference = least;
      if (query.reference > reach_.template furthest_reference<kIsEuclidean>(regression, least, query.length)) {
        refer_to_least(regression, query);
      }
    }
    return is_near;
  }
  static __device__ __forceinline__ void refer_to_least(const Arguments& regression, WarpQuery& query) {
    if (query.reference == query.least) return;
    query.sums.scale(kept_of_bytes(regression, query.reference, query.least, query.length));
    query.reference = query.least;
  }

  /// Adds the rows near the query whose keys are kPlace and kPlace + 1 of every four.
  template <int kPlace>
  __device__ __forceinline__ void add_near(const Arguments& regression, WarpQuery& query, const int (&sum)[64],
                                           const double* targets, int tile) const {
    // The sign of a difference tells what is far; the first key ends at the highest bit.
    unsigned far = 0;
#pragma unroll
    for (int i = 0; i < kWarpKeys; ++i) {
      const int difference = query.furthest - sum[i / 2 * 4 + kPlace + i % 2];
      far = __funnelshift_l(static_cast<unsigned>(difference), far, 1);
    }
#pragma unroll
    for (int i = 0; i < kWarpKeys; i += 4) {
      const int* const keys = sum + i * 2 + kPlace;
      keys_[(kWarpKeys - 4 - i) / 4 * 32] = {keys[5], keys[4], keys[1], keys[0]};
    }
    unsigned near = ~far;
    while (any(near != 0)) {
      int bits[kAtOnce];
      int keys[kAtOnce];
      float weights[kAtOnce];
      bool is_nearest = false;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        bits[i] = (31 - __clz(static_cast<int>(near))) & 31;
        keys[i] = reinterpret_cast<const int*>(keys_ + bits[i] / 4 * 32)[bits[i] % 4];
        weights[i] = byte_weight<kIsEuclidean>(regression, factor_, keys[i], query.reference, query.length);
        if (near == 0) weights[i] = 0;
        is_nearest |= near != 0 && keys[i] == query.least;
        near &= ~(1U << bits[i]);
      }
      if (is_nearest && query.nearest < 0) {
#pragma unroll
        for (int i = kAtOnce - 1; i >= 0; --i) {
          if (weights[i] != 0 && keys[i] == query.least) query.nearest = tile * kWarpKeys + kWarpKeys - 1 - bits[i];
        }
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const auto weight = static_cast<double>(weights[i]);
        query.sums.add(weight, weights[i] == 0 ? 0 : targets[bits[i]]);
      }
    }
  }

  int4* keys_;
  RegressionByteReach reach_;
  RegressionByteFactor factor_;
};

}  // namespace tessera::cuda
