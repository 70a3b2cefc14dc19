// Doubt about Winograd's sums, compiled once for every instruction set. Vectors hold the same place of several tiles
// beside each other, as in the transforms; but all this is done once for a tile, not once for each of its channels, so
// it is written plainly.
#include "ops/cnn_layer/cnn_layer_winograd_doubt.h"

#include <array>
#include <limits>

#include "mathematics/cnn_layer_winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cnn_layer/cnn_layer_winograd_doubt.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace cnn_layer_winograd_doubt {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void add_magnitudes(const T* HWY_RESTRICT planes, std::int64_t count, T* HWY_RESTRICT sums) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::Abs(hn::LoadU(d, planes + i))), d, sums + i);
}

/// A matrix of kOutputs rows times a column of vectors; its entries are not negative.
template <class D, std::size_t kOutputs, std::size_t kSize, class V = hn::VFromD<D>>
HWY_INLINE void weigh(D d, const std::array<std::array<mathematics::Fraction, kSize>, kOutputs>& matrix,
                      const V* HWY_RESTRICT column, V* HWY_RESTRICT result, std::size_t result_step) {
  for (std::size_t o = 0; o < kOutputs; ++o) {
    V sum = hn::Zero(d);
    for (std::size_t i = 0; i < kSize; ++i) {
      // A place that an output does not feel must not meet it as 0 * infinity.
      if (matrix[o][i].numerator == 0) continue;
      sum = hn::MulAdd(hn::Set(d, static_cast<hn::TFromD<D>>(matrix[o][i].value())), column[i], sum);
    }
    result[o * result_step] = sum;
  }
}

template <class T, int kOutputs, int kTaps>
HWY_NOINLINE std::int64_t find_doubts(const WinogradMagnitudes<T>& magnitudes, std::int32_t* places) {
  constexpr std::size_t kSize = kOutputs + kTaps - 1;
  static constexpr auto kGrowth = mathematics::kWinogradMatrices<kOutputs, kTaps>.growth();
  static constexpr auto kWindows = mathematics::kWinogradMatrices<kOutputs, kTaps>.windows();
  const hn::ScalableTag<T> d;
  using V = hn::VFromD<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const PatchGrid& grid = magnitudes.grid;
  const V limit = hn::Set(d, static_cast<T>(magnitudes.limit));
  const V largest = hn::Set(d, std::numeric_limits<T>::max());
  std::int64_t found = 0;
  for (std::int64_t y = 0; y < grid.rows; ++y) {
    for (std::int64_t x = 0; x < grid.columns; x += lanes) {
      const T* const patch = magnitudes.sums + (y * grid.pitch() + x);
      V felt[kOutputs * kSize];  // row o, column j
      V own[kOutputs * kSize];
      for (std::size_t j = 0; j < kSize; ++j) {
        V column[kSize];
        for (std::size_t i = 0; i < kSize; ++i)
          column[i] = hn::LoadU(d, patch + grid.offset(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)));
        weigh(d, kGrowth, column, felt + j, kSize);
        weigh(d, kWindows, column, own + j, kSize);
      }
      for (std::int64_t o = 0; o < kOutputs; ++o) {
        V felt_by[kOutputs];
        V own_of[kOutputs];
        weigh(d, kGrowth, felt + o * static_cast<std::int64_t>(kSize), felt_by, 1);
        weigh(d, kWindows, own + o * static_cast<std::int64_t>(kSize), own_of, 1);
        for (std::int64_t p = 0; p < kOutputs; ++p) {
          // Neither a NaN nor an infinity passes this comparison.
          const auto is_sure = hn::Le(felt_by[p], hn::Min(hn::Mul(limit, own_of[p]), largest));
          if (hn::AllTrue(d, is_sure)) continue;
          HWY_ALIGN T sure[hn::MaxLanes(d)];
          hn::Store(hn::IfThenElseZero(is_sure, hn::Set(d, T(1))), d, sure);
          const std::int64_t row = y * kOutputs + o;
          for (std::int64_t k = 0; k < lanes && x + k < grid.columns; ++k) {
            const std::int64_t column = (x + k) * kOutputs + p;
            if (sure[k] == 0 && row < magnitudes.sum_rows && column < magnitudes.sum_columns)
              places[found++] = static_cast<std::int32_t>(row * magnitudes.sum_columns + column);
          }
        }
      }
    }
  }
  return found;
}

template <class T>
HWY_INLINE std::int64_t find_any_doubts(const WinogradMagnitudes<T>& magnitudes, std::int64_t outputs,
                                        std::int64_t taps, std::int32_t* places) {
  if (taps == 3) return find_doubts<T, 4, 3>(magnitudes, places);
  if (outputs == 4) return find_doubts<T, 4, 5>(magnitudes, places);
  return find_doubts<T, 2, 5>(magnitudes, places);
}

/// kRows rows of weights share what they read of the pixels.
template <class T, int kRows>
HWY_INLINE void multiply_rows(const DirectProduct<T>& product, std::int64_t row) {
  const hn::CappedTag<T, kDirectPlaces> d;
  using V = hn::VFromD<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* const HWY_RESTRICT weights = product.weights + row * product.depth;
  for (std::int64_t first = 0; first < kDirectPlaces; first += lanes) {
    V sums[kRows];
    for (V& sum : sums) sum = hn::Zero(d);
    for (std::int64_t k = 0; k < product.depth; ++k) {
      const V pixels = hn::Load(d, product.pixels + k * kDirectPlaces + first);
      for (int r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(hn::Set(d, weights[r * product.depth + k]), pixels, sums[r]);
    }
    for (int r = 0; r < kRows; ++r) hn::StoreU(sums[r], d, product.sums + (row + r) * product.sums_step + first);
  }
}

template <class T>
HWY_INLINE void multiply_any(const DirectProduct<T>& product) {
  std::int64_t row = 0;
  for (; row + 4 <= product.rows; row += 4) multiply_rows<T, 4>(product, row);
  for (; row < product.rows; ++row) multiply_rows<T, 1>(product, row);
}

void magnitudes_float32(const float* planes, std::int64_t count, float* sums) {
  add_magnitudes(planes, count, sums);
}
void magnitudes_float64(const double* planes, std::int64_t count, double* sums) {
  add_magnitudes(planes, count, sums);
}
std::int64_t doubts_float32(const WinogradMagnitudes<float>& magnitudes, std::int64_t outputs, std::int64_t taps,
                            std::int32_t* places) {
  return find_any_doubts(magnitudes, outputs, taps, places);
}
std::int64_t doubts_float64(const WinogradMagnitudes<double>& magnitudes, std::int64_t outputs, std::int64_t taps,
                            std::int32_t* places) {
  return find_any_doubts(magnitudes, outputs, taps, places);
}
void directly_float32(const DirectProduct<float>& product) {
  multiply_any(product);
}
void directly_float64(const DirectProduct<double>& product) {
  multiply_any(product);
}

}  // namespace cnn_layer_winograd_doubt
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(magnitudes_float32);
HWY_EXPORT(magnitudes_float64);
HWY_EXPORT(doubts_float32);
HWY_EXPORT(doubts_float64);
HWY_EXPORT(directly_float32);
HWY_EXPORT(directly_float64);

template <>
void winograd_add_magnitudes(const float* planes, std::int64_t count, float* sums) {
  HWY_DYNAMIC_DISPATCH(magnitudes_float32)(planes, count, sums);
}
template <>
void winograd_add_magnitudes(const double* planes, std::int64_t count, double* sums) {
  HWY_DYNAMIC_DISPATCH(magnitudes_float64)(planes, count, sums);
}
template <>
std::int64_t winograd_find_doubts(const WinogradMagnitudes<float>& magnitudes, std::int64_t outputs, std::int64_t taps,
                                  std::int32_t* places) {
  return HWY_DYNAMIC_DISPATCH(doubts_float32)(magnitudes, outputs, taps, places);
}
template <>
std::int64_t winograd_find_doubts(const WinogradMagnitudes<double>& magnitudes, std::int64_t outputs, std::int64_t taps,
                                  std::int32_t* places) {
  return HWY_DYNAMIC_DISPATCH(doubts_float64)(magnitudes, outputs, taps, places);
}
template <>
void multiply_directly(const DirectProduct<float>& product) {
  HWY_DYNAMIC_DISPATCH(directly_float32)(product);
}
template <>
void multiply_directly(const DirectProduct<double>& product) {
  HWY_DYNAMIC_DISPATCH(directly_float64)(product);
}

}  // namespace tessera::cpu_tbb
#endif
