// kernel_regression by tiles: rows as tiles read them, of the training set once, of queries in each round.
//
//   rows, as given         packed                    A warp packs a row, its lanes neighbouring numbers, and adds up
//   +-----------+          +-----------------+       its squared length. A row that has no part, or is not there,
//   | row 0     |    ->    | row 0     0 0 0 |  | D  becomes zeros and a length beyond all.
//   | row 1     |          | row 1     0 0 0 |  | D
//   +-----------+          +-----------------+       Numbers with a fraction are packed less the training rows' mean,
//                                                    so that lengths are as small as distances are, or nearly so:
//                                                    the mean of the first rows of the set, which slabs of it bring
//                                                    along. A thread adds up a column, so that it does not depend on
//                                                    the card. Bytes as they are go in chunks of 16, read once.
#include "cuda_kernel_overlap.cuh"
#include "ops/kernel_regression/kernel_regression_pack.cuh"
#include "ops/kernel_regression/kernel_regression_tiles_arguments.h"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ void pack_row(const RegressionPackArguments<T>& pack) {
  using Number = typename RegressionPackArguments<T>::Number;
  using Length = typename RegressionPackArguments<T>::Length;
  let_next_kernel_start();
  wait_for_kernel_before();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t in_round = static_cast<std::int64_t>(blockIdx.x) * kRegressionPackWarps + threadIdx.x / 32;
  if (in_round >= pack.padded_rows) return;
  const std::int64_t row = pack.first_row + in_round;
  const bool is_there = row < pack.row_count;
  const T* const given = pack.rows + row * pack.columns;
  if constexpr (std::is_integral_v<T>) {
    if (pack.offset == 0 && pack.number_step == 1 && pack.packed != nullptr) {
      const bool is_aligned = reinterpret_cast<std::uintptr_t>(given) % kRegressionChunk == 0;
      const auto length = static_cast<Length>(sum_of_lanes(
          pack_chunks(given, is_there ? pack.columns : 0, is_aligned, lane * kRegressionChunk, 32 * kRegressionChunk,
                      pack.depth, reinterpret_cast<std::uint8_t*>(pack.packed) + in_round * pack.row_step, 1)));
      if (lane == 0) pack.lengths[in_round] = is_there ? length : no_length<Length>();
      return;
    }
  }
  Length sum = 0;
  Length sum_given = 0;
#pragma unroll 8  // a row's numbers are fetched together: few rows leave nobody else to wait for
  for (std::int64_t j = lane; is_there && j < pack.columns; j += 32) {
    Length number = static_cast<Length>(given[j]);
    if constexpr (std::is_integral_v<T>) number -= pack.offset;
    sum_given += number * number;
    if constexpr (std::is_floating_point_v<T>) {
      const Length away = pack.centre == nullptr ? number : number - pack.centre[j];
      sum += away * away;
    }
  }
  sum_given = sum_of_lanes(sum_given);
  bool counts = is_there;
  if constexpr (std::is_floating_point_v<T>) {
    sum = sum_of_lanes(sum);
    counts = counts && isfinite(sum) && isfinite(sum_given);
  } else {
    sum = sum_given;
  }
  if (lane == 0) pack.lengths[in_round] = counts ? sum : no_length<Length>();
  if (pack.packed == nullptr) return;
  Number* const packed = pack.packed + in_round * pack.row_step;
  constexpr int kAtOnce = 8;
#pragma unroll 1
  for (std::int64_t first = lane; first < pack.depth; first += 32 * kAtOnce) {
    Number numbers[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const std::int64_t j = first + i * 32;
      numbers[i] = 0;
      if (!counts || j >= pack.columns) continue;
      if constexpr (std::is_floating_point_v<T>) {
        numbers[i] = given[j] - pack.centre[j];
      } else {
        numbers[i] = static_cast<Number>(given[j] - pack.offset);
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i * 32 < pack.depth) packed[(first + i * 32) * pack.number_step] = numbers[i];
    }
  }
}

/// The mean of each column of the rows that have a part, a thread each; 0 where it is not finite.
template <class T>
__device__ __forceinline__ void find_centre(const RegressionPackArguments<T>& pack) {
  let_next_kernel_start();
  wait_for_kernel_before();
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kRegressionCentreThreads + threadIdx.x;
  if (column >= pack.columns) return;
  double sum = 0;
  double count = 0;
  for (std::int64_t row = 0; row < pack.row_count; ++row) {
    if (isinf(pack.lengths[row])) continue;
    sum += static_cast<double>(pack.rows[row * pack.columns + column]);
    count += 1;
  }
  const T mean = static_cast<T>(sum / fmax(count, 1.0));
  pack.new_centre[column] = isfinite(mean) ? mean : T(0);
}

}  // namespace tessera::cuda

#define TESSERA_REGRESSION_PACK(name, function, threads, T, type)                                  \
  extern "C" __global__ void __launch_bounds__(threads) tessera_kernel_regression_##name##_##type( \
      const __grid_constant__ tessera::cuda::RegressionPackArguments<T> pack) {                    \
    tessera::cuda::function(pack);                                                                 \
  }
#define TESSERA_REGRESSION_PACK_ROWS(T, type) \
  TESSERA_REGRESSION_PACK(pack, pack_row, 32 * tessera::cuda::kRegressionPackWarps, T, type)
#define TESSERA_REGRESSION_CENTRE(T, type) \
  TESSERA_REGRESSION_PACK(centre, find_centre, tessera::cuda::kRegressionCentreThreads, T, type)

TESSERA_REGRESSION_PACK_ROWS(std::uint8_t, uint8)
TESSERA_REGRESSION_PACK_ROWS(float, float32)
TESSERA_REGRESSION_PACK_ROWS(double, float64)
TESSERA_REGRESSION_CENTRE(float, float32)
TESSERA_REGRESSION_CENTRE(double, float64)
