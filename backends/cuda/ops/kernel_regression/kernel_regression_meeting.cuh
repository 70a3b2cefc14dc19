// kernel_regression by tiles: the queries of a tile of distances meet its training rows. Distances never leave the
// registers of the threads that computed them, but for those of the few rows that are near enough to weigh something.
//
//   threads with products                         shared memory           a thread for each query
//   the least distance of each run of theirs  ->  least of the tile   ->  is it nearer than all before? what the state
//                                                                         holds is scaled, and rows that were near
//                                                                         enough may be so no longer
//   a bit for each row that is still near     ->  bits of each query   -> how many there are, and which rows
//   their distances, where the bits say       ->  a list of each query -> weights, added from the first row to the last
//
// Mostly the first step finds nothing, and costs a comparison a run. A query that has more near rows than its list has
// places, which only happens with small orders, takes so many of them at a time. What is added in which order depends
// on the tile's rows alone.
#pragma once

#include "ops/kernel_regression/kernel_regression_meeting_state.cuh"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"

namespace tessera::cuda {

/// What the threads of a block tell each other.
template <class T, int kQueries_, int kRows_>
struct RegressionMet {
  using Key = typename RegressionKey<T>::Key;
  static constexpr int kQueries = kQueries_, kRows = kRows_;
  static constexpr int kListed = kRegressionListed;
  static constexpr int kWords = kRows / 32;
  static_assert(kListed % 2 == 0, "neighbouring queries' lists begin in different banks");

  Key listed[kQueries][kListed + 1];
  Key least[kQueries];     ///< of the rows that each query has met
  Key furthest[kQueries];  ///< what is further away weighs nothing
  Key tile_least[kQueries];
  unsigned near[kWords][kQueries];  ///< a bit for each row of the tile
  int met[kQueries];                ///< of the near rows, from the first on
};

/// The thread of one query; the threads behind the queries have none.
template <class T, class Met>
class MeetingQuery {
 public:
  using Keys = RegressionKey<T>;
  using Key = typename Keys::Key;
  using Arguments = RegressionTileArguments<T>;
  using Length = typename Arguments::Length;
  using Result = typename Arguments::Result;

  /// `query` of the round; `number` of the tile's.
  __device__ MeetingQuery(const Arguments& regression, Met& met, std::int64_t block, std::int64_t query, int number)
      : number_(number) {
    if (number >= Met::kQueries) return;
    is_there_ = query < regression.queries_of_round;
    met.least[number] = is_there_ ? Keys::kFar : Keys::kNone;
    met.furthest[number] = met.least[number];
    met.tile_least[number] = Keys::kFar;
    if (!is_there_) return;
    length_ = regression.query_lengths[query];
    met.furthest[number] = Keys::of_distance(INFINITY, length_);
    state_ = RegressionMeetingState<T>(regression, block, query, length_);
  }

  /// Takes over the tile's least distance.
  __device__ __forceinline__ void approach(const Arguments& regression, Met& met) {
    if (!is_there_) return;
#pragma unroll
    for (int word = 0; word < Met::kWords; ++word) met.near[word][number_] = 0;
    met.met[number_] = 0;
    const Key least = met.tile_least[number_];
    const Key before = met.least[number_];
    met.tile_least[number_] = Keys::kFar;
    if (!(least < before)) return;
    wants_row_ = true;
    met.least[number_] = least;
    met.furthest[number_] = state_.approach(regression, before, least);
  }

  /// Meets the rows that are listed. Returns whether others are to be listed.
  __device__ __forceinline__ bool meet(const Arguments& regression, Met& met, std::int64_t first_row) {
    if (!is_there_) return false;
    const int before = met.met[number_];
    if (before == 0) find_first(met);
    int all = 0;
#pragma unroll
    for (int word = 0; word < Met::kWords; ++word) all += __popc(met.near[word][number_]);
    const int count = all - before < Met::kListed ? all - before : Met::kListed;
    const Key least = met.least[number_];
    for (int first = 0; first < count; first += kAtOnce) {
      int rows[kAtOnce];
      Key keys[kAtOnce];
      double weights[kAtOnce];
      Result targets[kAtOnce];  // the first of each, fetched together
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const bool is_listed = first + i < count;
        rows[i] = is_listed ? next_row(met) : 0;
        targets[i] = regression.targets[(first_row + rows[i]) * regression.outputs];
        keys[i] = is_listed ? met.listed[number_][first + i] : Keys::kFar;
        weights[i] = is_listed ? state_.weight(regression, keys[i], least) : 0;
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (weights[i] == 0) continue;
        if (wants_row_ && keys[i] == least) {
          state_.meet_nearest(first_row + rows[i]);
          wants_row_ = false;
        }
        state_.add(regression, weights[i], rows[i], targets[i],
                   regression.targets + (first_row + rows[i]) * regression.outputs);
      }
    }
    met.met[number_] = before + count;
    return before + count < all;
  }

  /// When all tiles have been met.
  __device__ __forceinline__ void write(const Arguments& regression) {
    if (is_there_) state_.write(regression);
  }

 private:
  static constexpr int kAtOnce = 4;  ///< weights that a thread computes beside each other

  __device__ __forceinline__ void find_first(const Met& met) {
    word_ = 0;
    bits_ = met.near[0][number_];
  }
  /// The near row behind the last one that it gave.
  [[nodiscard]] __device__ __forceinline__ int next_row(const Met& met) {
    while (bits_ == 0) bits_ = met.near[++word_][number_];
    const int bit = __ffs(static_cast<int>(bits_)) - 1;
    bits_ &= bits_ - 1;
    return word_ * 32 + bit;
  }

  int number_;
  bool is_there_ = false;
  bool wants_row_ = false;  ///< the nearest row is still to come
  Length length_ = 0;       ///< what a key of bytes is short of
  int word_ = 0;            ///< where the next near row is looked for
  unsigned bits_ = 0;
  RegressionMeetingState<T> state_;
};

/// Sets the bits of a run's near rows.
template <class Met, class Run>
__device__ __forceinline__ void mark_near(Met& met, int query, const Run& keys) {
  const auto furthest = met.furthest[query];
#pragma unroll
  for (int group = 0; group < Run::kGroups; ++group) {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < Run::kGroupKeys; ++i) bits |= keys.key(group, i) <= furthest ? 1U << Run::offset(i) : 0U;
    if (bits != 0) atomicOr(&met.near[keys.word(group)][query], bits << keys.shift());
  }
}

/// Lists a run's near rows that come next. How many are before a row tells its place.
template <class Met, class Run>
__device__ __forceinline__ void list_near(Met& met, int query, const Run& keys) {
  const auto furthest = met.furthest[query];
  int before = -met.met[query];
  for (int word = 0; word < keys.word(0); ++word) before += __popc(met.near[word][query]);
#pragma unroll
  for (int group = 0; group < Run::kGroups; ++group) {
    const unsigned bits = met.near[keys.word(group)][query];
    int place = 0;
#pragma unroll
    for (int i = 0; i < Run::kGroupKeys; ++i) {
      if (i % 2 == 0) place = before + __popc(bits & ((1U << (keys.shift() + Run::offset(i))) - 1));
      if (!(keys.key(group, i) <= furthest)) continue;
      if (static_cast<unsigned>(place) < static_cast<unsigned>(Met::kListed)) {
        met.listed[query][place] = keys.key(group, i);
      }
      ++place;
    }
    before += __popc(bits);
  }
}

/// All threads of the block call it. `tile.for_runs(visit)` calls visit(query, keys) for every run of distances of the
/// thread: keys.least(), and groups of keys of 32 rows, whose row is 32 * keys.word(group) + keys.shift() + offset(i).
/// Offsets come in pairs of neighbours. Between two calls the block meets at a barrier.
template <class T, class Met, class Tile>
__device__ __forceinline__ void meet_tile(const RegressionTileArguments<T>& regression, Met& met,
                                          MeetingQuery<T, Met>& mine, const Tile& tile, std::int64_t first_row) {
  using Keys = RegressionKey<T>;
  using Key = typename Keys::Key;
  unsigned near_runs = 0;
  int run = 0;
  tile.for_runs([&](int query, const auto& keys) {
    const Key least = keys.least();
    if (least <= met.furthest[query]) {
      near_runs |= 1U << run;
      if (least < met.least[query]) atomicMin(&met.tile_least[query], least);
    }
    ++run;
  });
  if (__syncthreads_or(near_runs != 0) == 0) return;
  mine.approach(regression, met);
  __syncthreads();
  run = 0;
  tile.for_runs([&](int query, const auto& keys) {
    if ((near_runs >> run++ & 1) != 0) mark_near(met, query, keys);
  });
  __syncthreads();
  int more = 1;
  while (more != 0) {
    run = 0;
    tile.for_runs([&](int query, const auto& keys) {
      if ((near_runs >> run++ & 1) != 0) list_near(met, query, keys);
    });
    __syncthreads();
    more = __syncthreads_or(mine.meet(regression, met, first_row));
  }
}

}  // namespace tessera::cuda
