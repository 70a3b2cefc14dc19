// kernel_regression by tiles: the keys as which a tile keeps distances, and a query's state while its rows are met.
//
// Numbers with a fraction are added as they come, relative to the nearest row so far. Rows of bytes, of which a tensor
// core has many more at a time, are added so that four lanes need not wait for each other, and that a nearer row seldom
// changes what is there:
//
//   row % 8      0 1   2 3   4 5   6 7         Weights are relative to the reference, the nearest of the first rows
//   sums of      a     b     c     d           met: those of nearer ones are greater than 1. Only where one could pass
//   in the end  (a  +  b) + (c  +  d)          float's range, the nearest row so far becomes the reference.
#pragma once

#include <cfloat>
#include <climits>

#include "ops/kernel_regression/kernel_regression_state.cuh"

namespace tessera::cuda {

/// How a tile keeps distances: as whole numbers that order as they do. A number with a fraction that is not below 0 is
/// known by its bits: comparing whole numbers leaves the pipe of float64 to the tensor cores, which share it. A key of
/// bytes is short of the query's own squared length, so that one subtraction makes it of a product; it has a sign.
template <class T>
struct RegressionKey {
  using Key = std::conditional_t<sizeof(T) == sizeof(double), long long, int>;
  static constexpr Key kFar = sizeof(T) == sizeof(double) ? static_cast<Key>(0x7ff0000000000000) : 0x7f800000;
  static constexpr Key kMost = kFar - 1, kNone = -1;
  [[nodiscard]] static __device__ __forceinline__ T number(Key key) {
    if constexpr (sizeof(T) == sizeof(double)) {
      return __longlong_as_double(key);
    } else {
      return __int_as_float(key);
    }
  }
  [[nodiscard]] static __device__ __forceinline__ Key of(T number) {
    if constexpr (sizeof(T) == sizeof(double)) {
      return __double_as_longlong(number);
    } else {
      return __float_as_int(number);
    }
  }
  [[nodiscard]] static __device__ Key of_distance(double distance, T) {
    return of(static_cast<T>(fmin(distance, static_cast<double>(number(kMost)))));
  }
};
template <>
struct RegressionKey<std::uint8_t> {
  using Key = int;
  static constexpr Key kFar = INT_MAX, kMost = INT_MAX - 1, kNone = INT_MIN;
  [[nodiscard]] static __device__ std::int64_t distance(Key key, int length) {
    return std::int64_t{key} + std::int64_t{length};
  }
  [[nodiscard]] static __device__ Key of_distance(double distance, int length) {
    return static_cast<int>(fmin(distance, static_cast<double>(kMost))) - length;
  }
};

/// How far a row may be beyond the nearest and still be the reference, in parts of the reach: exp(0.7 * 88) is far from
/// float's largest number.
inline constexpr double kReferenceReach = 0.7;

/// How far rows of bytes count, as keys that are `length` short of distances.
class RegressionByteReach {
 public:
  using Keys = RegressionKey<std::uint8_t>;
  using Arguments = RegressionTileArguments<std::uint8_t>;

  RegressionByteReach() = default;
  __device__ explicit RegressionByteReach(const Arguments& regression)
      : reach_(whole(regression.reach)), margin_(whole(kReferenceReach * regression.reach)) {}

  /// What is further away than it weighs nothing beside a row with the key `least`.
  template <bool kIsEuclidean>
  [[nodiscard]] __device__ __forceinline__ int furthest(const Arguments& regression, int least, int length) const {
    return kIsEuclidean ? beyond_root(least, length, regression.reach) : beyond(least, length, reach_);
  }
  /// What is further away than it is no reference beside such a row.
  template <bool kIsEuclidean>
  [[nodiscard]] __device__ __forceinline__ int furthest_reference(const Arguments& regression, int least,
                                                                  int length) const {
    return kIsEuclidean ? beyond_root(least, length, kReferenceReach * regression.reach)
                        : beyond(least, length, margin_);
  }

 private:
  [[nodiscard]] static __device__ int whole(double reach) { return static_cast<int>(fmin(reach, INT_MAX - 1.0)); }
  [[nodiscard]] static __device__ __forceinline__ int beyond(int least, int length, int reach) {
    return min(least, Keys::kMost - length - reach) + reach;
  }
  [[nodiscard]] static __device__ int beyond_root(int least, int length, double reach) {
    return Keys::of_distance(furthest_from(static_cast<double>(Keys::distance(least, length)), reach, true), length);
  }

  int reach_ = 0;
  int margin_ = 0;
};

/// The factor of a weight's exponent, which is one of 2, as two floats, whose products with a float are as good as
/// double's. It ends at float's largest number, so that its product with 0 is 0.
struct RegressionFactor {
  RegressionFactor() = default;
  __device__ explicit RegressionFactor(double of_e) {
    constexpr double kLogarithm = 1.4426950408889634;  // of e
    const double factor = fmin(of_e * kLogarithm, static_cast<double>(FLT_MAX));
    high = static_cast<float>(factor);
    low = static_cast<float>(factor - static_cast<double>(high));
  }
  float high = 0, low = 0;
};

/// The power of 2; 0 where it is smaller than the smallest normal number.
__device__ __forceinline__ float normal_power_of_2(float exponent) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}

/// The weight of a row relative to the reference; 0 where it is smaller than the smallest normal number.
template <bool kIsEuclidean>
__device__ __forceinline__ float byte_weight(const RegressionTileArguments<std::uint8_t>& regression,
                                             const RegressionFactor& factor, int key, int reference, int length) {
  if constexpr (kIsEuclidean) {
    if (key == reference) return 1;
    const auto squared = static_cast<double>(RegressionKey<std::uint8_t>::distance(key, length));
    const auto least = static_cast<double>(RegressionKey<std::uint8_t>::distance(reference, length));
    const float weight =
        expf(static_cast<float>(-regression.factor * ((squared - least) / (sqrt(squared) + sqrt(least)))));
    return weight < FLT_MIN ? 0 : weight;
  } else {
    // What both keys are short of is not in their difference.
    const auto below = static_cast<float>(reference - key);
    return normal_power_of_2(fmaf(below, factor.high, below * factor.low));
  }
}

/// Sums of some of a query's rows, relative to its reference.
struct RegressionSums {
  __device__ __forceinline__ void add(double weight, double target) {
    sum += weight;
    squares = fma(weight, weight, squares);
    output = fma(weight, target, output);
  }
  __device__ __forceinline__ void add(const RegressionSums& others) {
    sum += others.sum;
    squares += others.squares;
    output += others.output;
  }
  __device__ __forceinline__ void scale(double kept) {
    sum = scaled(sum, kept);
    squares = scaled(scaled(squares, kept), kept);
    output = scaled(output, kept);
  }
  double sum = 0, squares = 0, output = 0;
};

/// What is left of sums that were relative to the row with the key `reference`, now that they are to the one with
/// `least`.
__device__ __forceinline__ double kept_of_bytes(const RegressionTileArguments<std::uint8_t>& regression, int reference,
                                                int least, int length) {
  using Keys = RegressionKey<std::uint8_t>;
  return kept_weight(static_cast<double>(Keys::distance(reference, length)),
                     static_cast<double>(Keys::distance(least, length)), regression.factor, regression.is_euclidean);
}

/// One query's state while its threads meet its rows. Each keeps the sums that every problem has; of those in memory
/// it changes a part.
template <class T>
class RegressionMeetingState {
 public:
  using Keys = RegressionKey<T>;
  using Key = typename Keys::Key;
  using Arguments = RegressionTileArguments<T>;
  using Result = typename Arguments::Result;

  RegressionMeetingState() = default;
  __device__ RegressionMeetingState(const Arguments& regression, std::int64_t block, std::int64_t query, T,
                                    RegressionPart part)
      : state_(regression, block, query), part_(part) {
    state_.clear(regression, part_);
  }
  /// A row nearer than all before. Returns the furthest that weighs something beside it.
  __device__ Key approach(const Arguments& regression, Key before, Key least) {
    const auto distance = static_cast<double>(Keys::number(least));
    state_.approach(regression, static_cast<double>(Keys::number(before)), distance, part_);
    return Keys::of_distance(furthest_from(distance, regression.reach, regression.is_euclidean), T());
  }
  [[nodiscard]] __device__ __forceinline__ Result weight(const Arguments& regression, Key key, Key least) const {
    return regression_weight<Result>(regression.factor, regression.is_euclidean, Keys::number(key),
                                     Keys::number(least));
  }
  __device__ void meet_nearest(std::int64_t row) { state_.meet_nearest(row); }
  __device__ __forceinline__ void add(double weight, int, Result first) {
    state_.add(weight, static_cast<double>(first));
  }
  template <int kTeam, int kCount>
  __device__ __forceinline__ void add_in_memory(const Arguments& regression, const Result (&weights)[kCount],
                                                const int (&rows)[kCount], const Result* targets, bool has_part) const {
    state_.template add_in_memory<kTeam>(regression, weights, rows, targets, part_.number, has_part);
  }
  /// By all threads of the query.
  __device__ void write(const Arguments& regression) {
    if (part_.number == 0) state_.write(regression);
  }

 private:
  RegressionState<T> state_;
  RegressionPart part_;
};

template <>
class RegressionMeetingState<std::uint8_t> {
 public:
  using Keys = RegressionKey<std::uint8_t>;
  using Arguments = RegressionTileArguments<std::uint8_t>;

  RegressionMeetingState() = default;
  __device__ RegressionMeetingState(const Arguments& regression, std::int64_t block, std::int64_t query, int length,
                                    RegressionPart part)
      : state_(regression, block, query), part_(part), reach_(regression), factor_(regression.factor), length_(length) {
    state_.clear(regression, part_);
  }
  __device__ int approach(const Arguments& regression, int, int least) {
    least_ = least;
    if (reference_ == Keys::kFar) reference_ = least;
    const int furthest_reference = regression.is_euclidean
                                       ? reach_.furthest_reference<true>(regression, least, length_)
                                       : reach_.furthest_reference<false>(regression, least, length_);
    if (reference_ > furthest_reference) refer_to_least(regression);
    return regression.is_euclidean ? reach_.furthest<true>(regression, least, length_)
                                   : reach_.furthest<false>(regression, least, length_);
  }
  [[nodiscard]] __device__ __forceinline__ float weight(const Arguments& regression, int key, int) const {
    return regression.is_euclidean ? byte_weight<true>(regression, factor_, key, reference_, length_)
                                   : byte_weight<false>(regression, factor_, key, reference_, length_);
  }
  __device__ void meet_nearest(std::int64_t row) { state_.meet_nearest(row); }
  /// `row` of the tile, and its first target.
  __device__ __forceinline__ void add(double weight, int row, float first) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (row / 2 % kParts == part) parts_[part].add(weight, static_cast<double>(first));
    }
  }
  template <int kTeam, int kCount>
  __device__ __forceinline__ void add_in_memory(const Arguments& regression, const float (&weights)[kCount],
                                                const int (&rows)[kCount], const float* targets, bool has_part) const {
    state_.template add_in_memory<kTeam>(regression, weights, rows, targets, part_.number, has_part);
  }
  __device__ void write(const Arguments& regression) {
    if (reference_ != Keys::kFar) {
      refer_to_least(regression);
      parts_[0].add(parts_[1]);
      parts_[2].add(parts_[3]);
      parts_[0].add(parts_[2]);
      state_.set_sums(static_cast<double>(Keys::distance(least_, length_)), parts_[0].sum, parts_[0].squares,
                      parts_[0].output);
    }
    if (part_.number == 0) state_.write(regression);
  }

 private:
  static constexpr int kParts = 4;

  __device__ void refer_to_least(const Arguments& regression) {
    const double kept = kept_of_bytes(regression, reference_, least_, length_);
    for (RegressionSums& part : parts_) part.scale(kept);
    state_.scale_in_memory(regression, kept, part_);
    reference_ = least_;
  }

  RegressionState<std::uint8_t> state_;
  RegressionPart part_;
  RegressionByteReach reach_;
  RegressionFactor factor_;
  RegressionSums parts_[kParts];
  int length_ = 0;
  int least_ = Keys::kFar;
  int reference_ = Keys::kFar;
};

}  // namespace tessera::cuda
