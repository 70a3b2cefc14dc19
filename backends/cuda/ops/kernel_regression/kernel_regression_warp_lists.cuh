// kernel_regression by warp groups: how a lane lists what is near, in shared memory. Lanes' lists lie side by side, so
// that no two lanes share a bank wherever their lists end.
//
//   places of a lane      0  1  2  3  ...        13 14 15
//   one query's keys      a  b  c  ->                         a list (RegressionWarpList)
//   two queries' at once  a  b  c  ->         <-  f  e  d     two lists that share the places (RegressionWarpEnds)
#pragma once

#include "ops/kernel_regression/kernel_regression_meeting_state.cuh"
#include "ops/kernel_regression/kernel_regression_wide_shape.h"

namespace tessera::cuda {

/// Rows of a tile, keys of a query that a lane has of them; places of its list, and keys between which that is looked
/// at.
inline constexpr int kWarpRows = 128, kWarpKeys = 32, kWarpPlaces = 16, kWarpListedAtOnce = 8;
static_assert(kWarpKeys == 1 << 5);

/// Bytes: what no key of a row reaches. A key and its number share a word, which orders as the key does and, of equal
/// keys, as the numbers.
inline constexpr int kWarpMostKey = 1 << 26;
static_assert(kWideMostDepth * 255 * 255 < kWarpMostKey - 1);
/// What 64 times a row's product is taken off to make its word; that of a row that is not there is the greatest, as the
/// product is 0.
[[nodiscard]] __device__ __forceinline__ int word_of_length(int length, int number) {
  return length < kWarpMostKey ? length * kWarpKeys + number : INT_MAX;
}

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

/// A lane's own list; that of bytes is written from both ends (RegressionWarpEnds).
template <class T>
class RegressionWarpList;
template <>
class RegressionWarpList<std::uint8_t> {
 public:
  __device__ RegressionWarpList(RegressionWarpLists<std::uint8_t>& lists, int lane) : words_(&lists.words[0][lane]) {}
  /// Of the first place, in shared memory.
  [[nodiscard]] __device__ __forceinline__ int address() const {
    return static_cast<int>(__cvta_generic_to_shared(words_));
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

/// Two lists of words in a lane's places, which grow from the first and from the last. A list that has grown over all
/// places but one goes on there: what does not fit is lost, and is_overfull() says so.
class RegressionWarpEnds {
 public:
  static constexpr int kMost = kWarpPlaces - 2;  ///< words of a list, at most
  __device__ explicit RegressionWarpEnds(const RegressionWarpList<std::uint8_t>& list)
      : first_(list.address()), upper_(first_), lower_(first_ + kLast) {}
  __device__ __forceinline__ void put_upper(int word) {
    put(upper_, word);
    upper_ = min(upper_ + kStep, first_ + kLast);
  }
  __device__ __forceinline__ void put_lower(int word) {
    put(lower_, word);
    lower_ = max(lower_ - kStep, first_);
  }
  [[nodiscard]] __device__ __forceinline__ bool is_overfull() const {
    return upper_ - lower_ > kStep || upper_ == first_ + kLast || lower_ == first_;
  }
  [[nodiscard]] __device__ __forceinline__ int upper_count() const { return (upper_ - first_) / kStep; }
  [[nodiscard]] __device__ __forceinline__ int lower_count() const { return (first_ + kLast - lower_) / kStep; }

 private:
  static constexpr int kStep = 32 * sizeof(int);  ///< from a lane's place to its next
  static constexpr int kLast = (kWarpPlaces - 1) * kStep;

  static __device__ __forceinline__ void put(int address, int word) {
    asm volatile("st.shared.s32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
  }

  // Addresses in shared memory: one addition, which ends at the last place, takes a list on.
  int first_;
  int upper_;
  int lower_;
};

}  // namespace tessera::cuda
