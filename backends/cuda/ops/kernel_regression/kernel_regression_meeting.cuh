// kernel_regression by tiles: the queries of a tile of distances meet its training rows. Distances never leave the
// registers of the threads that computed them, but for those of the few rows that are near enough to weigh something.
//
//   threads with products                         shared memory           a team for each query
//   the least distance of each run of theirs  ->  least of the tile   ->  is it nearer than all before? what the state
//                                                                         holds is scaled, and rows that were near
//                                                                         enough may be so no longer
//   a bit for each row that is still near     ->  bits of each query   -> how many there are, and which rows
//   their distances, where the bits say       ->  a list of each query -> weights, added from the first row to the last
//
// Mostly the first step finds nothing, and costs a comparison a run. A query that has more near rows than its list has
// places, which happens with small orders and with few columns, takes so many of them at a time; a small tile keeps all
// its distances instead, where its stages were. What is added in which order depends on the tile's rows alone.
#pragma once

#include "ops/kernel_regression/kernel_regression_meeting_state.cuh"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"

namespace tessera::cuda {

/// What the threads of a block tell each other; a query has a team of so many of them. `kKeepsTile`: there is room for
/// all of a tile's distances elsewhere (MeetingQuery), and no list is needed.
template <class T, int kQueries_, int kRows_, int kThreads, bool kKeepsTile_ = false>
struct RegressionMet {
  using Key = typename RegressionKey<T>::Key;
  static constexpr int kQueries = kQueries_, kRows = kRows_;
  static constexpr int kTeam = kThreads / kQueries;
  static constexpr int kWords = kRows / 32;
  static_assert(kTeam == 1 || kTeam * kQueries == kThreads);

  static constexpr int kAtOnce = 4;  ///< weights that a thread computes beside each other
  static constexpr bool kKeepsTile = kKeepsTile_;
  static constexpr int kPlaces = kKeepsTile ? 0 : kRegressionListed;
  /// Rows of a list: those that a team of several takes at once, so often as there is room for.
  static constexpr int kListed = kTeam > 1 ? kPlaces / (kTeam * kAtOnce) * (kTeam * kAtOnce) : kPlaces;
  static constexpr int kKeptStep = kRows + 1;  ///< from a query's distances to the next's
  static_assert(kPlaces % 2 == 0, "neighbouring queries' lists begin in different banks");

  Key listed[kQueries][kPlaces + 1];
  Key least[kQueries];     ///< of the rows that each query has met
  Key furthest[kQueries];  ///< what is further away weighs nothing
  Key tile_least[kQueries];
  unsigned near[kWords][kQueries];  ///< a bit for each row of the tile
  int met[kQueries];                ///< of the near rows, from the first on
};

/// A thread of the team of one query; the threads behind the queries' teams have none. `kept` is memory of the block
/// for the distances of a tile that keeps them, each query's kKeptStep behind those of the one before. Small tiles have
/// more threads than queries: then those of a team, neighbours, compute weights beside each other and show them to each
/// other. Each adds all of them up, from the first row to the last, and changes its part of the sums in memory.
template <class T, class Met>
class MeetingQuery {
 public:
  using Keys = RegressionKey<T>;
  using Key = typename Keys::Key;
  using Arguments = RegressionTileArguments<T>;
  using Length = typename Arguments::Length;
  using Result = typename Arguments::Result;

  /// `first_query` of the tile, in the round; `thread` of the block.
  __device__ MeetingQuery(const Arguments& regression, Met& met, std::int64_t block, std::int64_t first_query,
                          int thread, Key* kept = nullptr)
      : number_(thread / kTeam), part_(thread % kTeam), kept_(kept) {
    if (number_ >= Met::kQueries) return;
    const std::int64_t query = first_query + number_;
    is_there_ = query < regression.queries_of_round;
    if (is_there_) length_ = regression.query_lengths[query];
    if (part_ == 0) {
      met.least[number_] = is_there_ ? Keys::kFar : Keys::kNone;
      met.furthest[number_] = is_there_ ? Keys::of_distance(INFINITY, length_) : Keys::kNone;
      met.tile_least[number_] = Keys::kFar;
    }
    if (is_there_) state_ = RegressionMeetingState<T>(regression, block, query, length_, {part_, kTeam});
  }

  /// Takes over the tile's least distance.
  __device__ __forceinline__ void approach(const Arguments& regression, Met& met) {
    if (!is_there_) return;
    const Key least = met.tile_least[number_];
    if (part_ == 0) {
#pragma unroll
      for (int word = 0; word < Met::kWords; ++word) met.near[word][number_] = 0;
      met.met[number_] = 0;
    }
    if (!(least < least_)) return;
    wants_row_ = true;
    const Key furthest = state_.approach(regression, least_, least);
    least_ = least;
    if (part_ != 0) return;
    met.least[number_] = least;
    met.furthest[number_] = furthest;
  }

  /// Meets the rows that are listed. Returns whether others are to be listed.
  __device__ __forceinline__ bool meet(const Arguments& regression, Met& met, std::int64_t first_row) {
    int before = 0;
    int all = 0;
    if (is_there_) {
      before = met.met[number_];
      if (before == 0) find_first(met);
#pragma unroll
      for (int word = 0; word < Met::kWords; ++word) all += __popc(met.near[word][number_]);
    }
    const int left = all - before;
    const int count = Met::kKeepsTile || left < Met::kListed ? left : Met::kListed;
    for (int first = 0; is_any_of_warp(first < count); first += kStep) {
      meet_listed(regression, met, first_row, first, count);
    }
    if constexpr (kTeam > 1) __syncwarp();  // all have read what the first of a team changes
    if (!is_there_) return false;
    if (part_ == 0) {
      met.met[number_] = before + count;
      met.tile_least[number_] = Keys::kFar;
    }
    return before + count < all;
  }

  [[nodiscard]] __device__ __forceinline__ Key* kept() const {
    return kept_;
  }
  /// When all tiles have been met.
  __device__ __forceinline__ void write(const Arguments& regression) {
    if (is_there_) state_.write(regression);
  }

 private:
  static constexpr int kTeam = Met::kTeam;
  static constexpr int kAtOnce = Met::kAtOnce;
  static constexpr int kStep = kTeam * kAtOnce;  ///< rows that a team meets at once

  /// Where threads show each other what they have, all of a warp must take part.
  [[nodiscard]] static __device__ __forceinline__ bool is_any_of_warp(bool mine) {
    return kTeam == 1 ? mine : __any_sync(kAllLanes, mine) != 0;
  }
  /// Of the list's rows up to `count`, so many from `first` on as a team meets at once, of which each thread has the
  /// kAtOnce behind those of the one before.
  __device__ __forceinline__ void meet_listed(const Arguments& regression, const Met& met, std::int64_t first_row,
                                              int first, int count) {
    int rows[kAtOnce];
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const int row = first + i < count ? next_row(met) : 0;
      if (i / kAtOnce == part_) rows[i % kAtOnce] = row;
    }
    Result weights[kAtOnce];
    Result targets[kAtOnce];  // the first of each, fetched together
    int nearest = Met::kRows;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int place = first + part_ * kAtOnce + i;
      const Result target = regression.targets[(first_row + rows[i]) * regression.outputs];
      const Key* const listed =
          Met::kKeepsTile ? kept_ + number_ * Met::kKeptStep + rows[i] : &met.listed[number_][place];
      const Key key = place < count ? *listed : Keys::kFar;
      weights[i] = place < count ? state_.weight(regression, key, least_) : 0;
      targets[i] = weights[i] == 0 ? 0 : target;  // it may be infinite
      if (place < count && key == least_) nearest = min(nearest, rows[i]);
    }
#pragma unroll
    for (int apart = 1; apart < kTeam; apart *= 2) nearest = min(nearest, __shfl_xor_sync(kAllLanes, nearest, apart));
    if (wants_row_ && nearest < Met::kRows) {
      state_.meet_nearest(first_row + nearest);
      wants_row_ = false;
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const int member = i / kAtOnce;
      state_.add(static_cast<double>(of_team<kTeam>(weights[i % kAtOnce], member)),
                 of_team<kTeam>(rows[i % kAtOnce], member), of_team<kTeam>(targets[i % kAtOnce], member));
    }
    if (regression.outputs + regression.classes > 1) {
      state_.template add_in_memory<kTeam>(regression, weights, rows,
                                           regression.targets + first_row * regression.outputs, first < count);
    }
  }

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
  int part_;  ///< of the team
  Key* kept_;
  bool is_there_ = false;
  bool wants_row_ = false;  ///< the nearest row is still to come
  Key least_ = Keys::kFar;  ///< of the rows met
  Length length_ = 0;       ///< what a key of bytes is short of
  int word_ = 0;            ///< where the next near row is looked for
  unsigned bits_ = 0;
  RegressionMeetingState<T> state_;
};

/// Sets the bits of a run's near rows, and keeps their distances where a tile does.
template <class Met, class Run>
__device__ __forceinline__ void mark_near(Met& met, typename Met::Key* kept, int query, const Run& keys) {
  const auto furthest = met.furthest[query];
#pragma unroll
  for (int group = 0; group < Run::kGroups; ++group) {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < Run::kGroupKeys; ++i) {
      if (!(keys.key(group, i) <= furthest)) continue;
      bits |= 1U << Run::offset(i);
      if constexpr (Met::kKeepsTile) {
        kept[query * Met::kKeptStep + keys.word(group) * 32 + keys.shift() + Run::offset(i)] = keys.key(group, i);
      }
    }
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
    if ((near_runs >> run++ & 1) != 0) mark_near(met, mine.kept(), query, keys);
  });
  __syncthreads();
  if constexpr (Met::kKeepsTile) {
    mine.meet(regression, met, first_row);
    __syncthreads();
  } else {
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
}

}  // namespace tessera::cuda
