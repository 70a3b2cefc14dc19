// kernel_regression by tiles, last launch: queries' results from their states.
//
//   block      0         1         2               A warp has 32 queries, whose numbers lie side by side, and of their
//           +-------+ +-------+ +-------+          outputs and classes kRegressionJoinPlaces. Each thread
//   queries | state | | state | | state | ->       walks over all blocks, from the first to the last, for the sums that
//           +-------+ +-------+ +-------+  results it needs. A query's threads find the blocks' weights together, a
//                                                  part each: that takes longer than to add.
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

/// Of 32 queries and some blocks, what the threads of a query tell each other. A block's sums are fetched once.
struct RegressionJoinShared {
  double least[kRegressionJoinBlocks][kRegressionJoinQueries];
  double sum[kRegressionJoinBlocks][kRegressionJoinQueries];
  double squares[kRegressionJoinBlocks][kRegressionJoinQueries];
  double weight[kRegressionJoinBlocks][kRegressionJoinQueries];
  double kept[kRegressionJoinBlocks][kRegressionJoinQueries];     ///< of those before
  double of_part[kRegressionJoinPlaces][kRegressionJoinQueries];  ///< the least of a thread's blocks
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

  /// With the sum at this place. All threads of the block call it.
  [[nodiscard]] __device__ RegressionJoined joined(std::int64_t place) const {
    __shared__ RegressionJoinShared shared;
    RegressionJoined all = joined_before(place);
    std::int64_t nearest = -1;  // block
    for (std::int64_t first = 0; first < join_.blocks; first += kRegressionJoinBlocks) {
      const std::int64_t left = join_.blocks - first;
      const int count = left < kRegressionJoinBlocks ? static_cast<int>(left) : kRegressionJoinBlocks;
      double next[kAtOnce];  // fetched before anything waits
      fetch(next, first, 0, count, place);
      weigh(shared, first, count, all.least);
#pragma unroll 1
      for (int block = 0; block < count; block += kAtOnce) {
        double numbers[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) numbers[i] = next[i];
        fetch(next, first, block + kAtOnce, count, place);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          if (block + i >= count) break;
          add(all, shared, block + i, numbers[i]);
          if (!(shared.least[block + i][threadIdx.x] < all.least)) continue;
          all.least = shared.least[block + i][threadIdx.x];
          nearest = first + block + i;
        }
      }
      __syncthreads();  // before the next blocks take the place of these
    }
    if (nearest >= 0) all.row = first_row_ + at(nearest, kRegressionRow);
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
  static constexpr int kBlocksOfThread = kRegressionJoinBlocks / kRegressionJoinPlaces;
  static constexpr int kAtOnce = 8;  ///< blocks whose numbers are fetched beside each other; more code takes longer

  /// Of the `count` blocks from `first` on, the numbers of kAtOnce from `begin` on.
  __device__ void fetch(double (&numbers)[kAtOnce], std::int64_t first, int begin, int count,
                        std::int64_t place) const {
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) numbers[i] = begin + i < count ? at(first + begin + i, place) : 0;
  }

  /// Fetches blocks, and finds their weights, where `least` is the least distance of all before them. A thread has
  /// blocks that follow each other.
  __device__ void weigh(RegressionJoinShared& shared, std::int64_t first, int count, double least) const {
    const auto query = static_cast<int>(threadIdx.x), part = static_cast<int>(threadIdx.y);
    const int begin = part * kBlocksOfThread;
    double of_part = INFINITY;
#pragma unroll
    for (int i = 0; i < kBlocksOfThread; ++i) {
      if (begin + i >= count) continue;
      const double own = at(first + begin + i, kRegressionLeast);
      shared.sum[begin + i][query] = at(first + begin + i, kRegressionSum);
      shared.squares[begin + i][query] = at(first + begin + i, kRegressionSquares);
      shared.least[begin + i][query] = own;
      of_part = own < of_part ? own : of_part;
    }
    shared.of_part[part][query] = of_part;
    __syncthreads();
    for (int other = 0; other < part; ++other) {
      const double before = shared.of_part[other][query];
      least = before < least ? before : least;
    }
#pragma unroll 1
    for (int block = begin; block < count && block < begin + kBlocksOfThread; ++block) {
      const double own = shared.least[block][query];
      shared.weight[block][query] = weight_beside(least, own);
      shared.kept[block][query] = kept_beside(least, own);
      least = own < least ? own : least;
    }
    __syncthreads();
  }

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
  /// Of a block whose least distance is this, beside those before it; 0 if it has no part.
  [[nodiscard]] __device__ double weight_beside(double before, double least) const {
    if (isinf(least)) return 0;
    if (least < before) return 1;
    const bool is_near = least <= furthest_from(before, join_.reach, join_.is_euclidean);
    return is_near ? kept_weight(least, before, join_.factor, join_.is_euclidean) : 0;
  }
  /// What is left of those before a block.
  [[nodiscard]] __device__ double kept_beside(double before, double least) const {
    if (!(least < before)) return 1;
    const bool is_left = !isinf(before) && before <= furthest_from(least, join_.reach, join_.is_euclidean);
    return is_left ? kept_weight(before, least, join_.factor, join_.is_euclidean) : 0;
  }
  /// Without branches, so that a block's numbers wait for one product and one sum of the block's before.
  __device__ void add(RegressionJoined& all, const RegressionJoinShared& shared, int block, double number) const {
    const double weight = shared.weight[block][threadIdx.x], kept = shared.kept[block][threadIdx.x];
    const bool has_part = weight != 0;  // a sum that is not finite stays out where it has no part
    // One rounding each, wherever the compiler puts them: slabs must not differ from one piece.
    all.sum = fma(weight, has_part ? shared.sum[block][threadIdx.x] : 0, scaled(all.sum, kept));
    all.squares = fma(__dmul_rn(weight, weight), has_part ? shared.squares[block][threadIdx.x] : 0,
                      scaled(all.squares, __dmul_rn(kept, kept)));
    all.number = fma(weight, has_part ? number : 0, scaled(all.number, kept));
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
  const bool is_there = in_round < join.queries_of_round;
  const std::int64_t query = join.first_query + in_round;
  const Result none = static_cast<Result>(NAN);
  const RegressionStates<T> states(join, is_there ? in_round : 0);
  const std::int64_t numbers = join.outputs + join.classes;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * kRegressionJoinPlaces;
  for (std::int64_t first = blockIdx.y * kRegressionJoinPlaces; first < numbers; first += step) {
    const std::int64_t number = first + threadIdx.y;
    const RegressionJoined all = states.joined(kRegressionSums + (number < numbers ? number : 0));
    if (!is_there || number >= numbers) continue;
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
