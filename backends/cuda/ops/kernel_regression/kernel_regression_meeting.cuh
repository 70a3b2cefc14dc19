// kernel_regression by tiles: the queries of a tile of distances meet its training rows. Distances never leave the
// registers of the threads that computed them, but for those of the few rows that are near enough to weigh something.
//
//   threads with products                         shared memory           a thread for each query
//   the least distance of each run of theirs  ->  least of the tile   ->  is it nearer than all before? what the state
//                                                                         holds is scaled, and rows that were near
//                                                                         enough may be so no longer
//   those that are still near, and their rows ->  a list of each query -> weights, added from the first row to the last
//
// Mostly the first step finds nothing, and costs a comparison a run. A query that has more near rows than its list has
// places, which only happens with small orders, takes so many rows of the tile at a time. What is added in which order
// depends on the tile's rows alone.
#pragma once

#include <cfloat>
#include <climits>

#include "ops/kernel_regression/kernel_regression_state.cuh"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"

namespace tessera::cuda {

/// How a tile keeps distances: as keys that order as they do. A key of bytes is short of the query's own squared
/// length, so that one subtraction makes it of a product; it has a sign.
template <class T>
struct RegressionKey {
  using Key = T;
  using Word = unsigned;  ///< orders as keys that are no less than 0 do
  static constexpr Key kFar = INFINITY, kMost = FLT_MAX, kNone = -1;
  [[nodiscard]] static __device__ Word word(Key key) { return __float_as_uint(key); }
  [[nodiscard]] static __device__ Key key(Word word) { return __uint_as_float(word); }
  [[nodiscard]] static __device__ T distance(Key key, T) { return key; }
  [[nodiscard]] static __device__ Key of_distance(double distance, T) {
    return static_cast<T>(fmin(distance, static_cast<double>(kMost)));
  }
};
template <>
struct RegressionKey<double> {
  using Key = double;
  using Word = unsigned long long;
  static constexpr Key kFar = INFINITY, kMost = DBL_MAX, kNone = -1;
  [[nodiscard]] static __device__ Word word(Key key) { return static_cast<Word>(__double_as_longlong(key)); }
  [[nodiscard]] static __device__ Key key(Word word) { return __longlong_as_double(static_cast<long long>(word)); }
  [[nodiscard]] static __device__ double distance(Key key, double) { return key; }
  [[nodiscard]] static __device__ Key of_distance(double distance, double) { return fmin(distance, kMost); }
};
template <>
struct RegressionKey<std::uint8_t> {
  using Key = int;
  using Word = int;
  static constexpr Key kFar = INT_MAX, kMost = INT_MAX - 1, kNone = INT_MIN;
  [[nodiscard]] static __device__ Word word(Key key) { return key; }
  [[nodiscard]] static __device__ Key key(Word word) { return word; }
  [[nodiscard]] static __device__ std::int64_t distance(Key key, int length) {
    return std::int64_t{key} + std::int64_t{length};
  }
  [[nodiscard]] static __device__ Key of_distance(double distance, int length) {
    return static_cast<int>(fmin(distance, static_cast<double>(kMost))) - length;
  }
};

/// What the threads of a block tell each other.
template <class T, int kQueries_, int kRows_>
struct RegressionMet {
  using Key = typename RegressionKey<T>::Key;
  static constexpr int kQueries = kQueries_, kRows = kRows_;
  static constexpr int kListed = kRegressionListed;
  static_assert(kListed % 2 == 0, "neighbouring queries' lists begin in different banks");

  Key listed[kQueries][kListed + 1];
  Key least[kQueries];     ///< of the rows that each query has met
  Key furthest[kQueries];  ///< what is further away weighs nothing
  typename RegressionKey<T>::Word tile_least[kQueries];
  int listed_count[kQueries];  ///< near rows, also those for which there was no place
  int first_row[kQueries];     ///< of the tile's rows that are listed now
  int row_count[kQueries];
  short listed_row[kQueries][kListed + 1];
};

/// The thread of one query; the threads behind the queries have none.
template <class T, class Met>
class MeetingQuery {
 public:
  using Keys = RegressionKey<T>;
  using Key = typename Keys::Key;
  using Arguments = RegressionTileArguments<T>;
  using Length = typename Arguments::Length;

  /// `query` of the round; `number` of the tile's.
  __device__ MeetingQuery(const Arguments& regression, Met& met, std::int64_t block, std::int64_t query, int number)
      : number_(number) {
    if (number >= Met::kQueries) return;
    is_there_ = query < regression.queries_of_round;
    met.least[number] = is_there_ ? Keys::kFar : Keys::kNone;
    met.furthest[number] = met.least[number];
    met.tile_least[number] = Keys::word(Keys::kFar);
    met.row_count[number] = 0;
    if (!is_there_) return;
    length_ = regression.query_lengths[query];
    met.furthest[number] = Keys::of_distance(INFINITY, length_);
    state_ = RegressionState<T>(regression, block, query);
    state_.clear(regression);
  }

  /// Takes over the tile's least distance.
  __device__ __forceinline__ void approach(const Arguments& regression, Met& met) {
    if (!is_there_) return;
    list_all(met);
    const Key least = Keys::key(met.tile_least[number_]);
    const Key before = met.least[number_];
    met.tile_least[number_] = Keys::word(Keys::kFar);
    if (!(least < before)) return;
    const auto distance = static_cast<double>(Keys::distance(least, length_));
    state_.approach(regression, before == Keys::kFar ? INFINITY : static_cast<double>(Keys::distance(before, length_)),
                    distance);
    wants_row_ = true;
    met.least[number_] = least;
    met.furthest[number_] =
        Keys::of_distance(furthest_from(distance, regression.reach, regression.is_euclidean), length_);
  }

  /// Meets the rows that are listed, or finds them too many. Returns whether others are to be listed.
  __device__ __forceinline__ bool meet(const Arguments& regression, Met& met, std::int64_t first_row) {
    if (!is_there_ || met.row_count[number_] == 0) return false;
    const int count = met.listed_count[number_];
    if (count > Met::kListed) {
      met.row_count[number_] = Met::kListed;
      met.listed_count[number_] = 0;
      return true;
    }
    const Key least = met.least[number_];
    int row = -1;
    for (int i = 0; i < count; ++i) {
      const int place = next_place(met, count, row);
      row = met.listed_row[number_][place];
      add(regression, met.listed[number_][place], least, first_row + row);
    }
    met.listed_count[number_] = 0;
    if (met.first_row[number_] + met.row_count[number_] < Met::kRows) {
      met.first_row[number_] += Met::kListed;
      return true;
    }
    met.row_count[number_] = 0;  // while others go on
    return false;
  }

 private:
  __device__ __forceinline__ void list_all(Met& met) const {
    met.listed_count[number_] = 0;
    met.first_row[number_] = 0;
    met.row_count[number_] = Met::kRows;
  }

  /// Where the next row behind this one is listed: threads list theirs in any order.
  [[nodiscard]] __device__ __forceinline__ int next_place(const Met& met, int count, int row) const {
    int next = Met::kRows;
    int place = 0;
    for (int i = 0; i < count; ++i) {
      const int other = met.listed_row[number_][i];
      if (other > row && other < next) {
        next = other;
        place = i;
      }
    }
    return place;
  }

  __device__ __forceinline__ void add(const Arguments& regression, Key key, Key least, std::int64_t row) {
    if (key == least && wants_row_) {
      state_.set_row(regression, row);
      wants_row_ = false;
    }
    const auto weight = static_cast<double>(regression_weight<typename Arguments::Result>(
        regression.factor, regression.is_euclidean, Keys::distance(key, length_), Keys::distance(least, length_)));
    if (weight != 0) state_.add(regression, weight, regression.targets + row * regression.outputs);
  }

  int number_;
  bool is_there_ = false;
  bool wants_row_ = false;  ///< the nearest row is still to come
  Length length_ = 0;       ///< what a key of bytes is short of
  RegressionState<T> state_;
};

/// All threads of the block call it. `tile.for_runs(visit)` calls visit(query, keys) for every run of distances of the
/// thread: keys.least(), and keys.for_each(visit) calls visit(row, key). Between two calls the block meets at a
/// barrier.
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
      if (least < met.least[query]) atomicMin(&met.tile_least[query], Keys::word(least));
    }
    ++run;
  });
  if (__syncthreads_or(near_runs != 0) == 0) return;
  mine.approach(regression, met);
  __syncthreads();
  int more = 1;
  while (more != 0) {
    run = 0;
    tile.for_runs([&](int query, const auto& keys) {
      if ((near_runs >> run++ & 1) == 0) return;
      const Key furthest = met.furthest[query];
      const int begin = met.first_row[query];
      const auto count = static_cast<unsigned>(met.row_count[query]);
      keys.for_each([&](int row, Key key) {
        if (!(key <= furthest) || static_cast<unsigned>(row - begin) >= count) return;
        const int place = atomicAdd(&met.listed_count[query], 1);
        if (place >= Met::kListed) return;
        met.listed[query][place] = key;
        met.listed_row[query][place] = static_cast<short>(row);
      });
    });
    __syncthreads();
    more = __syncthreads_or(mine.meet(regression, met, first_row));
  }
}

}  // namespace tessera::cuda
