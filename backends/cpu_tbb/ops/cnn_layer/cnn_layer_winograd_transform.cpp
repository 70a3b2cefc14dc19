// Winograd's transforms, compiled once for every instruction set. A patch of n x n vectors goes through a matrix twice,
// down and across:
//
//     planes: pixel (i, j)          down: n columns               across: n rows
//     of 16 tiles is one load   ->  column j = B^T * column  ->   row a = row * B    ->  n * n stores, one a matrix
//
// The matrices' entries are known when this is compiled: zeros cost nothing, ones an addition. The patch between the
// two passes lies in the first-level cache. Sums leave through stores that interleave, because the sums beside each
// other of one tile are vectors of their own.
#include "ops/cnn_layer/cnn_layer_winograd_transform.h"

#include <array>
#include <utility>

#include "mathematics/cnn_layer_winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cnn_layer/cnn_layer_winograd_transform.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#ifndef TESSERA_CPU_TBB_WINOGRAD_TABLES
#define TESSERA_CPU_TBB_WINOGRAD_TABLES
namespace tessera::cpu_tbb {

template <std::size_t kRows, std::size_t kColumns>
constexpr auto numbers_of(const std::array<std::array<mathematics::Fraction, kColumns>, kRows>& matrix) {
  std::array<std::array<double, kColumns>, kRows> numbers{};
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) numbers[row][column] = matrix[row][column].value();
  }
  return numbers;
}
template <int kOutputs, int kTaps>
inline constexpr auto kInputNumbers = numbers_of(mathematics::kWinogradMatrices<kOutputs, kTaps>.input);
template <int kOutputs, int kTaps>
inline constexpr auto kOutputNumbers = numbers_of(mathematics::kWinogradMatrices<kOutputs, kTaps>.output);

template <std::size_t kSize>
constexpr std::size_t first_entry(const std::array<double, kSize>& row) {
  std::size_t first = 0;
  while (row[first] == 0) ++first;
  return first;
}

}  // namespace tessera::cpu_tbb
#endif

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace cnn_layer_winograd_transform {

namespace hn = hwy::HWY_NAMESPACE;

/// Adds entry k of a row of the matrix times vector k.
template <const auto& kMatrix, std::size_t kRow, std::size_t k, class V>
HWY_INLINE V add_entry(V sum, const V* HWY_RESTRICT vectors) {
  constexpr double kEntry = kMatrix[kRow][k];
  using T = hn::TFromV<V>;
  if constexpr (kEntry == 0 || k <= first_entry(kMatrix[kRow])) {
    return sum;
  } else if constexpr (kEntry == 1) {
    return hn::Add(sum, vectors[k]);
  } else if constexpr (kEntry == -1) {
    return hn::Sub(sum, vectors[k]);
  } else {
    return hn::MulAdd(hn::Set(hn::DFromV<V>(), static_cast<T>(kEntry)), vectors[k], sum);
  }
}

/// A row of the matrix times a column of vectors.
template <const auto& kMatrix, std::size_t kRow, class V, std::size_t... k>
HWY_INLINE V times_row(const V* HWY_RESTRICT vectors, std::index_sequence<k...>) {
  constexpr std::size_t kFirst = first_entry(kMatrix[kRow]);
  constexpr double kEntry = kMatrix[kRow][kFirst];
  V sum = vectors[kFirst];
  if constexpr (kEntry == -1) sum = hn::Neg(sum);
  if constexpr (kEntry != 1 && kEntry != -1)
    sum = hn::Mul(hn::Set(hn::DFromV<V>(), static_cast<hn::TFromV<V>>(kEntry)), sum);
  ((sum = add_entry<kMatrix, kRow, k>(sum, vectors)), ...);
  return sum;
}

/// The matrix times a column of vectors; element r of the result is given to store(r, vector).
template <const auto& kMatrix, class V, class Store, std::size_t... kRow>
HWY_INLINE void times(const V* HWY_RESTRICT vectors, const Store& store, std::index_sequence<kRow...>) {
  using Columns = std::make_index_sequence<kMatrix[0].size()>;
  (store(kRow, times_row<kMatrix, kRow>(vectors, Columns())), ...);
}

template <class T, int kOutputs, int kTaps>
HWY_NOINLINE void transform_input(const WinogradInput<T>& input) {
  constexpr std::size_t kSize = kOutputs + kTaps - 1;
  constexpr const auto& kMatrix = kInputNumbers<kOutputs, kTaps>;
  using Rows = std::make_index_sequence<kSize>;
  const hn::ScalableTag<T> d;
  using V = hn::VFromD<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::array<std::int64_t, kSize * kSize> offsets;
  for (std::size_t i = 0; i < kSize * kSize; ++i)
    offsets[i] = input.grid.offset(static_cast<std::int64_t>(i / kSize), static_cast<std::int64_t>(i % kSize));
  V half[kSize * kSize];  // row a, column j
  for (std::int64_t y = 0; y < input.grid.rows; ++y) {
    for (std::int64_t x = 0; x < input.grid.columns; x += lanes) {
      const T* const patch = input.planes + (y * input.grid.pitch() + x);
      for (std::size_t j = 0; j < kSize; ++j) {
        V column[kSize];
        for (std::size_t i = 0; i < kSize; ++i) column[i] = hn::LoadU(d, patch + offsets[i * kSize + j]);
        times<kMatrix>(
            column, [&](std::size_t a, V v) HWY_ATTR { half[a * kSize + j] = v; }, Rows());
      }
      // What is written behind a row is overwritten by the next, but there is none behind the last.
      const std::int64_t tile = y * input.grid.columns + x;
      T* const target = input.products + tile;
      const std::int64_t room = input.room - tile;
      for (std::size_t a = 0; a < kSize; ++a) {
        times<kMatrix>(
            half + a * kSize,
            [&](std::size_t b, V v) HWY_ATTR {
              T* const place = target + static_cast<std::int64_t>(a * kSize + b) * input.matrix_step;
              if (room >= lanes) {
                hn::StoreU(v, d, place);
              } else {
                HWY_ALIGN T edge[hn::MaxLanes(d)];
                hn::Store(v, d, edge);
                for (std::int64_t k = 0; k < room; ++k) place[k] = edge[k];
              }
            },
            Rows());
      }
    }
  }
}

template <class T, int kOutputs, int kTaps>
HWY_NOINLINE void transform_output(const WinogradOutput<T>& output) {
  constexpr std::size_t kSize = kOutputs + kTaps - 1;
  constexpr const auto& kMatrix = kOutputNumbers<kOutputs, kTaps>;
  using Rows = std::make_index_sequence<kOutputs>;
  const hn::ScalableTag<T> d;
  using V = hn::VFromD<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V half[kOutputs * kSize];  // row i, column b
  for (std::int64_t y = 0; y < output.rows; ++y) {
    for (std::int64_t x = 0; x < output.columns; x += lanes) {
      const T* const products = output.products + (y * output.columns + x);
      for (std::size_t b = 0; b < kSize; ++b) {
        V column[kSize];
        for (std::size_t a = 0; a < kSize; ++a)
          column[a] = hn::LoadU(d, products + static_cast<std::int64_t>(a * kSize + b) * output.matrix_step);
        times<kMatrix>(
            column, [&](std::size_t i, V v) HWY_ATTR { half[i * kSize + b] = v; }, Rows());
      }
      for (std::size_t i = 0; i < kOutputs; ++i) {
        V row[kOutputs];
        times<kMatrix>(
            half + i * kSize, [&](std::size_t j, V v) HWY_ATTR { row[j] = v; }, Rows());
        T* const target = output.sums + (y * kOutputs + static_cast<std::int64_t>(i)) * output.sums_step + x * kOutputs;
        if constexpr (kOutputs == 4) {
          hn::StoreInterleaved4(row[0], row[1], row[2], row[3], d, target);
        } else {
          hn::StoreInterleaved2(row[0], row[1], d, target);
        }
      }
    }
  }
}

template <class T>
HWY_INLINE void any_input(const WinogradInput<T>& input, std::int64_t outputs, std::int64_t taps) {
  if (taps == 3) return transform_input<T, 4, 3>(input);
  if (outputs == 4) return transform_input<T, 4, 5>(input);
  transform_input<T, 2, 5>(input);
}
template <class T>
HWY_INLINE void any_output(const WinogradOutput<T>& output, std::int64_t outputs, std::int64_t taps) {
  if (taps == 3) return transform_output<T, 4, 3>(output);
  if (outputs == 4) return transform_output<T, 4, 5>(output);
  transform_output<T, 2, 5>(output);
}

void input_float32(const WinogradInput<float>& input, std::int64_t outputs, std::int64_t taps) {
  any_input(input, outputs, taps);
}
void input_float64(const WinogradInput<double>& input, std::int64_t outputs, std::int64_t taps) {
  any_input(input, outputs, taps);
}
void output_float32(const WinogradOutput<float>& output, std::int64_t outputs, std::int64_t taps) {
  any_output(output, outputs, taps);
}
void output_float64(const WinogradOutput<double>& output, std::int64_t outputs, std::int64_t taps) {
  any_output(output, outputs, taps);
}

}  // namespace cnn_layer_winograd_transform
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(input_float32);
HWY_EXPORT(input_float64);
HWY_EXPORT(output_float32);
HWY_EXPORT(output_float64);

template <>
void winograd_input(const WinogradInput<float>& input, std::int64_t outputs, std::int64_t taps) {
  HWY_DYNAMIC_DISPATCH(input_float32)(input, outputs, taps);
}
template <>
void winograd_input(const WinogradInput<double>& input, std::int64_t outputs, std::int64_t taps) {
  HWY_DYNAMIC_DISPATCH(input_float64)(input, outputs, taps);
}
template <>
void winograd_output(const WinogradOutput<float>& output, std::int64_t outputs, std::int64_t taps) {
  HWY_DYNAMIC_DISPATCH(output_float32)(output, outputs, taps);
}
template <>
void winograd_output(const WinogradOutput<double>& output, std::int64_t outputs, std::int64_t taps) {
  HWY_DYNAMIC_DISPATCH(output_float64)(output, outputs, taps);
}

}  // namespace tessera::cpu_tbb
#endif
