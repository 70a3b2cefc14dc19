// kernel_regression by warp groups: the keys as which a lane holds distances, in the places of a tile's sums, and its
// list of those that are near. What orders them and what they weigh is told apart by the rows' type here; all else of a
// warp's meeting is the same (kernel_regression_warp_meeting.cuh).
#pragma once

#include "ops/kernel_regression/kernel_regression_meeting_state.cuh"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

namespace tessera::cuda {

/// Rows of a tile, keys of a query that a lane has of them; places of its list, and keys between which that is looked
/// at.
inline constexpr int kWarpRows = 128, kWarpKeys = 32, kWarpPlaces = 16, kWarpListedAtOnce = 8;
static_assert(kWarpKeys == 1 << 5);

/// Bytes: a row that is not there, so that no difference of keys passes an int; and what no key of a row reaches, so
/// that a key and its number share a word.
inline constexpr int kWarpNoLength = 1 << 30, kWarpMostKey = 1 << 26;
static_assert(kWideMostDepth * 255 * 255 < kWarpMostKey);

/// The lists of a warp's lanes, side by side.
template <class T>
struct RegressionWarpLists;
template <>
struct RegressionWarpLists<std::uint8_t> {
  int words[kWarpPlaces][32];
};
template <>
struct RegressionWarpLists<float> {
  int keys[kWarpPlaces][32];
  unsigned char numbers[kWarpPlaces][32];
};

/// A key and its number among those that a lane has of the query.
struct RegressionListed {
  int key;
  int number;
};

/// A lane's own list.
template <class T>
class RegressionWarpList;
template <>
class RegressionWarpList<std::uint8_t> {
 public:
  __device__ RegressionWarpList(RegressionWarpLists<std::uint8_t>& lists, int lane) : words_(&lists.words[0][lane]) {}
  __device__ __forceinline__ void put(int place, int key, int number) const {
    words_[place * 32] = key * kWarpKeys + number;
  }
  [[nodiscard]] __device__ __forceinline__ RegressionListed get(int place) const {
    const int word = words_[place * 32];
    return {word >> 5, word & (kWarpKeys - 1)};
  }

 private:
  int* words_;
};
template <>
class RegressionWarpList<float> {
 public:
  __device__ RegressionWarpList(RegressionWarpLists<float>& lists, int lane)
      : keys_(&lists.keys[0][lane]), numbers_(&lists.numbers[0][lane]) {}
  __device__ __forceinline__ void put(int place, int key, int number) const {
    keys_[place * 32] = key;
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
  static constexpr int kNone = kWarpMostKey, kNobody = -(1 << 30);

  __device__ explicit RegressionWarpKeys(const Arguments& regression)
      : reach_(regression), factor_(regression.factor) {}
  /// What is further away weighs nothing. Of squared distances it takes an addition, and no register meanwhile.
  [[nodiscard]] __device__ __forceinline__ int furthest(const Arguments& regression, int least, int length) const {
    return min(reach_.template furthest<kIsEuclidean>(regression, least, length), kWarpMostKey);
  }
  [[nodiscard]] __device__ __forceinline__ int furthest_reference(const Arguments& regression, int least,
                                                                  int length) const {
    return reach_.template furthest_reference<kIsEuclidean>(regression, least, length);
  }
  [[nodiscard]] __device__ __forceinline__ float weight(const Arguments& regression, int key, int reference,
                                                        int length) const {
    return byte_weight<kIsEuclidean>(regression, factor_, key, reference, length);
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

  __device__ explicit RegressionWarpKeys(const Arguments& regression) : factor_(regression.factor) {}
  [[nodiscard]] __device__ __forceinline__ int furthest(const Arguments& regression, int least, float) const {
    return beyond(least, regression.reach);
  }
  [[nodiscard]] __device__ __forceinline__ int furthest_reference(const Arguments& regression, int least, float) const {
    return beyond(least, kReferenceReach * regression.reach);
  }
  [[nodiscard]] __device__ __forceinline__ float weight(const Arguments& regression, int key, int reference,
                                                        float) const {
    if constexpr (kIsEuclidean) {
      return regression_weight<float>(regression.factor, true, Keys::number(key), Keys::number(reference));
    } else {
      const float below = Keys::number(reference) - Keys::number(key);
      return normal_power_of_2(fmaf(below, factor_.high, below * factor_.low));
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
