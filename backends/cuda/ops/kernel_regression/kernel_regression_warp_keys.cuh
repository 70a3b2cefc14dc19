// kernel_regression by warp groups: the words as which a lane holds distances, in the places of a tile's sums, and its
// list of those that are near. What orders them and what they weigh is told apart by the rows' type here; all else of a
// warp's meeting is the same (kernel_regression_warp_meeting.cuh).
//
//   rows of bytes   | key: 27 bits | number: 5 bits |   The number is that of the row among those that the lane has
//   of floats       | key: the distance's bits      |   of the query: the least word tells which row is nearest.
#pragma once

#include "ops/kernel_regression/kernel_regression_meeting_state.cuh"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

namespace tessera::cuda {

/// Rows of a tile, keys of a query that a lane has of them, and keys between which its list is looked at.
inline constexpr int kWarpRows = 128, kWarpKeys = 32, kWarpListedAtOnce = 8;
static_assert(kWarpKeys == 1 << 5);
/// What a lane of a quad needs to know of a tile's rows lies together in shared memory, so far from what the next lane
/// needs that four lanes read from different banks: targets, in double, and what words are made from.
inline constexpr int kWarpTargetStep = kWarpKeys + 2, kWarpTargets = 4 * kWarpTargetStep;
inline constexpr int kWarpWordStep = kWarpKeys + 4, kWarpWords = 4 * kWarpWordStep;

/// A tile's row among those that a lane has.
[[nodiscard]] __device__ __forceinline__ constexpr int number_of_row(int row) {
  return row / 8 * 2 + row % 2;
}

/// Where a tile's row has its target, and what its words are made from.
[[nodiscard]] __device__ __forceinline__ constexpr int place_of_target(int row) {
  return row % 8 / 2 * kWarpTargetStep + number_of_row(row);
}
[[nodiscard]] __device__ __forceinline__ constexpr int place_of_word(int row) {
  return row % 8 / 2 * kWarpWordStep + number_of_row(row);
}

/// Bytes: the word of a row that is not there, and what no key of a row reaches.
inline constexpr int kWarpNoWord = INT_MAX, kWarpMostKey = kWarpNoWord / kWarpKeys - 1;
static_assert(kWideMostDepth * 255 * 255 < kWarpMostKey);

/// Of bytes, a row's word before its product with the query is taken off.
__device__ __forceinline__ int word_of_length(int length, int number) {
  return length > kWarpMostKey ? kWarpNoWord : length * kWarpKeys + number;
}
__device__ __forceinline__ int word_less_product(int word, int product) {
  return static_cast<int>(static_cast<unsigned>(word) - 2U * kWarpKeys * static_cast<unsigned>(product));
}

/// The lists of a warp's lanes, side by side.
template <class T>
struct RegressionWarpLists;
template <>
struct RegressionWarpLists<std::uint8_t> {
  static constexpr int kPlaces = 8;  ///< shared memory has room for no more
  int words[kPlaces][32];
};
template <>
struct RegressionWarpLists<float> {
  static constexpr int kPlaces = 16;
  int keys[kPlaces][32];
  unsigned char numbers[kPlaces][32];
};

/// A word and its number among those that a lane has of the query.
struct RegressionListed {
  int word;
  int number;
};

/// A lane's own list.
template <class T>
class RegressionWarpList;
template <>
class RegressionWarpList<std::uint8_t> {
 public:
  __device__ RegressionWarpList(RegressionWarpLists<std::uint8_t>& lists, int lane) : words_(&lists.words[0][lane]) {}
  __device__ __forceinline__ void put(int place, int word, int) const { words_[place * 32] = word; }
  [[nodiscard]] __device__ __forceinline__ RegressionListed get(int place) const {
    const int word = words_[place * 32];
    return {word, word & (kWarpKeys - 1)};
  }

 private:
  int* words_;
};
template <>
class RegressionWarpList<float> {
 public:
  __device__ RegressionWarpList(RegressionWarpLists<float>& lists, int lane)
      : keys_(&lists.keys[0][lane]), numbers_(&lists.numbers[0][lane]) {}
  __device__ __forceinline__ void put(int place, int word, int number) const {
    keys_[place * 32] = word;
    numbers_[place * 32] = static_cast<unsigned char>(number);
  }
  [[nodiscard]] __device__ __forceinline__ RegressionListed get(int place) const {
    return {keys_[place * 32], numbers_[place * 32]};
  }

 private:
  int* keys_;
  unsigned char* numbers_;
};

template <class T, bool kIsEuclidean>
class RegressionWarpKeys;

/// Squared lengths of rows less twice the products: whole numbers that are short of a query's own squared length.
template <bool kIsEuclidean>
class RegressionWarpKeys<std::uint8_t, kIsEuclidean> {
 public:
  using Arguments = RegressionTileArguments<std::uint8_t>;
  using Keys = RegressionKey<std::uint8_t>;
  /// The least key of a query that has met no row, and of one that is not there: nothing is near that.
  static constexpr int kNone = kWarpMostKey, kNobody = -(1 << 26);
  static constexpr bool kHasNumbers = true;  ///< in its words

  __device__ explicit RegressionWarpKeys(const Arguments& regression) : reach_(regression), factor_(regression.factor) {
    // Differences of words are so many times those of keys.
    factor_.high /= kWarpKeys;
    factor_.low /= kWarpKeys;
  }
  [[nodiscard]] static __device__ __forceinline__ int key(int word) { return word >> 5; }
  [[nodiscard]] static __device__ __forceinline__ int number(int word) { return word & (kWarpKeys - 1); }
  /// The first word with this key, and the last.
  [[nodiscard]] static __device__ __forceinline__ int first_word(int key) {
    return static_cast<int>(static_cast<unsigned>(key) * kWarpKeys);
  }
  [[nodiscard]] static __device__ __forceinline__ int last_word(int key) { return first_word(key) + kWarpKeys - 1; }
  /// What is further away weighs nothing. Of squared distances it takes an addition, and no register meanwhile.
  [[nodiscard]] __device__ __forceinline__ int furthest(const Arguments& regression, int least, int length) const {
    return min(reach_.template furthest<kIsEuclidean>(regression, least, length), kWarpMostKey);
  }
  [[nodiscard]] __device__ __forceinline__ int furthest_reference(const Arguments& regression, int least,
                                                                  int length) const {
    return reach_.template furthest_reference<kIsEuclidean>(regression, least, length);
  }
  /// `reference`: its first word.
  [[nodiscard]] __device__ __forceinline__ float weight(const Arguments& regression, int word, int number,
                                                        int reference, int length) const {
    if constexpr (kIsEuclidean) {
      return byte_weight<true>(regression, factor_, key(word), key(reference), length);
    } else {
      return weight_of_nearer(static_cast<float>(reference + number - word), factor_);
    }
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
  static constexpr bool kHasNumbers = false;  ///< in its words

  __device__ explicit RegressionWarpKeys(const Arguments& regression) : factor_(regression.factor) {}
  [[nodiscard]] static __device__ __forceinline__ int key(int word) { return word; }
  [[nodiscard]] static __device__ __forceinline__ int first_word(int key) { return key; }
  [[nodiscard]] static __device__ __forceinline__ int last_word(int key) { return key; }
  [[nodiscard]] __device__ __forceinline__ int furthest(const Arguments& regression, int least, float) const {
    return beyond(least, regression.reach);
  }
  [[nodiscard]] __device__ __forceinline__ int furthest_reference(const Arguments& regression, int least, float) const {
    return beyond(least, kReferenceReach * regression.reach);
  }
  [[nodiscard]] __device__ __forceinline__ float weight(const Arguments& regression, int word, int, int reference,
                                                        float) const {
    if constexpr (kIsEuclidean) {
      return regression_weight<float>(regression.factor, true, Keys::number(word), Keys::number(reference));
    } else {
      return weight_of_nearer(Keys::number(reference) - Keys::number(word), factor_);
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
