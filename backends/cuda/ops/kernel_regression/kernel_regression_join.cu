// kernel_regression by tiles, last launch: queries' results from their states.
//
//   block      0         1         2               A warp has 32 queries, whose numbers lie side by side, and of their
//           +-------+ +-------+ +-------+          outputs and classes every kRegressionJoinPlaces-th. Each thread
//   queries | state | | state | | state | ->       walks over all blocks, from the first to the last, for the sums that
//           +-------+ +-------+ +-------+  results it needs, and finds the least distance and the weights for itself:
//                                                  nobody waits for anybody.
//
// A slab of a training set goes on from what the slabs before have left in `before`, and leaves in `after`, of each
// query: rows met so far, and a state. Whether a block is the slab's first or not, it is joined to the same numbers in
// the same way, so that slabs give the bits of one piece.
#include "cuda_kernel_overlap.cuh"
#include "ops/kernel_regression/kernel_regression_state.cuh"

namespace tessera::cuda {

/// A query's joined sums, as far as one thread needs them.
struct RegressionJoined {
  double least = INFINITY;
  double row = -1;
  double sum = 0;
  double squares = 0;
  double number = 0;  ///< the one it is asked for
};

/// One query's states, of the blocks and of the slabs before and behind them.
template <class T>
class RegressionStates {
 public:
  __device__ RegressionStates(const RegressionJoinArguments<T>& join, std::int64_t in_round)
      : join_(join),
        first_(join.states + in_round),
        size_(kRegressionSums + join.outputs + join.classes),
        kept_((join.first_query + in_round) * (1 + size_)),
        first_row_(join.before == nullptr ? 0 : join.before[kept_]) {}

  /// With the sum at this place.
  [[nodiscard]] __device__ RegressionJoined joined(std::int64_t place) const {
    RegressionJoined all = joined_before(place);
    double furthest = furthest_from(all.least, join_.reach, join_.is_euclidean);
    for (std::int64_t block = 0; block < join_.blocks; ++block) {
      const double least = at(block, kRegressionLeast);
      if (isinf(least) || least > furthest) continue;
      double weight = 1;
      if (least < all.least) {
        furthest = furthest_from(least, join_.reach, join_.is_euclidean);
        approach(all, least, furthest);
        all.row = first_row_ + at(block, kRegressionRow);
      } else {
        weight = kept_weight(least, all.least, join_.factor, join_.is_euclidean);
        if (weight == 0) continue;  // a sum that is not finite stays out where it has no part
      }
      // One rounding each, wherever the compiler puts them: slabs must not differ from one piece.
      all.sum = fma(weight, at(block, kRegressionSum), all.sum);
      all.squares = fma(weight * weight, at(block, kRegressionSquares), all.squares);
      all.number = fma(weight, at(block, place), all.number);
    }
    return all;
  }

  /// For the slab behind this one. One thread of the query is the `first`: what all know it writes.
  __device__ void keep(std::int64_t place, const RegressionJoined& all, bool is_first) const {
    if (join_.after == nullptr) return;
    double* const after = join_.after + kept_;
    after[1 + place] = all.number;
    if (!is_first) return;
    after[0] = first_row_ + static_cast<double>(join_.training_rows);
    after[1 + kRegressionLeast] = all.least;
    after[1 + kRegressionRow] = all.row;
    after[1 + kRegressionSum] = all.sum;
    after[1 + kRegressionSquares] = all.squares;
  }

 private:
  [[nodiscard]] __device__ double at(std::int64_t block, std::int64_t place) const {
    return first_[(block * size_ + place) * join_.state_queries];
  }
  /// What the slabs before have left; zeros mean none.
  [[nodiscard]] __device__ RegressionJoined joined_before(std::int64_t place) const {
    if (first_row_ == 0) return {};
    const double* const before = join_.before + kept_ + 1;
    return {before[kRegressionLeast], before[kRegressionRow], before[kRegressionSum], before[kRegressionSquares],
            before[place]};
  }
  /// A block has a row nearer than all before it.
  __device__ void approach(RegressionJoined& all, double least, double furthest) const {
    const bool is_left = !isinf(all.least) && all.least <= furthest;
    const double kept = is_left ? kept_weight(all.least, least, join_.factor, join_.is_euclidean) : 0;
    all.least = least;
    all.sum = scaled(all.sum, kept);
    all.squares = scaled(scaled(all.squares, kept), kept);
    all.number = scaled(all.number, kept);
  }

  const RegressionJoinArguments<T>& join_;
  const double* first_;
  std::int64_t size_;
  std::int64_t kept_;  ///< where the query's numbers lie in `before` and `after`
  double first_row_;   ///< of the slab, in the whole set
};

template <class T>
__device__ __forceinline__ void join_states(const RegressionJoinArguments<T>& join) {
  using Result = typename RegressionJoinArguments<T>::Result;
  using Squared = typename RegressionJoinArguments<T>::Squared;
  let_next_kernel_start();
  wait_for_kernel_before();
  const std::int64_t in_round = static_cast<std::int64_t>(blockIdx.x) * kRegressionJoinQueries + threadIdx.x;
  if (in_round >= join.queries_of_round) return;
  const std::int64_t query = join.first_query + in_round;
  const Result none = static_cast<Result>(NAN);
  const RegressionStates<T> states(join, in_round);
  for (std::int64_t number = threadIdx.y; number < join.outputs + join.classes; number += kRegressionJoinPlaces) {
    const RegressionJoined all = states.joined(kRegressionSums + number);
    states.keep(kRegressionSums + number, all, number == 0);
    const bool has_met = !isinf(all.least);
    if (number < join.outputs) {
      join.values[query * join.outputs + number] = has_met ? static_cast<Result>(all.number / all.sum) : none;
    } else {
      join.votes[query * join.classes + number - join.outputs] = has_met ? static_cast<Result>(all.number) : none;
    }
    if (number != 0) continue;
    if (join.nearest_row != nullptr) {
      join.nearest_row[query] = static_cast<std::int64_t>(all.row);
      join.nearest_squared[query] = has_met ? static_cast<Squared>(all.least) : no_distance<Squared>();
    }
    if (join.neighbours != nullptr) {
      join.neighbours[query] = has_met ? static_cast<Result>(all.sum * all.sum / all.squares) : none;
    }
  }
}

}  // namespace tessera::cuda

#define TESSERA_REGRESSION_JOIN(T, type)                                                                              \
  extern "C" __global__ void __launch_bounds__(                                                                       \
      tessera::cuda::kRegressionJoinQueries* tessera::cuda::kRegressionJoinPlaces)                                    \
      tessera_kernel_regression_join_##type(const __grid_constant__ tessera::cuda::RegressionJoinArguments<T> join) { \
    tessera::cuda::join_states(join);                                                                                 \
  }

TESSERA_REGRESSION_JOIN(std::uint8_t, uint8)
TESSERA_REGRESSION_JOIN(float, float32)
TESSERA_REGRESSION_JOIN(double, float64)
