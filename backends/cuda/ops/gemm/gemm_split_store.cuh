// What becomes of the sums of gemm's variants split and scaled_half: they are scaled back, and C = alpha * sum + beta *
// C is stored. A sum that may be off by more than the bound allows is in doubt, and then a warp computes the 16 rows
// and the tile's columns that hold it anew, in float32 from the operands as they were. Rows that hold an infinity or
// NaN are in doubt everywhere. What a sum may be off, and so where doubt begins: docs/decisions/0025.
#pragma once

#include <cstdint>

#include "cuda_split_elements.cuh"
#include "ops/gemm/gemm_split_arguments.h"
#include "ops/gemm/gemm_split_scale.cuh"
#include "ops/gemm/gemm_split_tiles.cuh"

namespace tessera::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

/// C = alpha * sum + beta * C for two neighbouring elements, as far as they lie inside; with beta = 0, C is not read.
__device__ __forceinline__ void store_pair(const GemmSplitArguments& gemm, float* place, std::int64_t left, float first,
                                           float second) {
  first *= gemm.alpha;
  second *= gemm.alpha;
  if (gemm.aligned_c && left >= 2) {
    auto* const pair = reinterpret_cast<float2*>(place);
    if (gemm.beta != 0) {
      const float2 before = *pair;
      first += gemm.beta * before.x;
      second += gemm.beta * before.y;
    }
    __stcs(pair, make_float2(first, second));  // panels shall stay in the L2 cache
    return;
  }
  if (left >= 1) place[0] = gemm.beta != 0 ? first + gemm.beta * place[0] : first;
  if (left >= 2) place[1] = gemm.beta != 0 ? second + gemm.beta * place[1] : second;
}

/// Stores eight rows by 32 columns from `first_row` and `first_column` on, as far as they lie inside, where value
/// 2 j + e of lane 4 g + t is of row g and column 8 j + 2 t + e. For rows of C that begin anywhere: the lanes exchange
/// values first, so that a warp stores 32 neighbours of one row at once, and not two or so of each of eight rows.
/// kIsWhole: all lie inside, and beta is 0.
template <bool kIsWhole>
__device__ __forceinline__ void store_neighbours(const GemmSplitArguments& gemm, float (&value)[8], std::int64_t matrix,
                                                 std::int64_t first_row, std::int64_t first_column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // Each pass swaps a bit of the values' numbers with one of the row.
#pragma unroll
  for (int bit = 0; bit < 3; ++bit) {
    const int of_lane = 16 >> bit;
    const bool has_bit = (lane & of_lane) != 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if ((i >> bit & 1) != 0) continue;
      const int j = i + (1 << bit);
      const float received = __shfl_xor_sync(~0u, has_bit ? value[i] : value[j], of_lane);
      value[i] = has_bit ? received : value[i];
      value[j] = has_bit ? value[j] : received;
    }
  }
  // The row's bits are now those of the value's number, from the other end; the lane's are e, j from its low bit on, t.
  const std::int64_t column = first_column + lane / 16 + lane / 8 % 2 * 8 + lane / 4 % 2 * 16 + lane % 4 * 2;
  if (!kIsWhole && column >= gemm.n) return;
  float* place = gemm.c + matrix * gemm.stride_c + first_row * gemm.ldc + column;
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    if (!kIsWhole && first_row + g >= gemm.m) return;
    float result = gemm.alpha * value[(g & 1) * 4 + (g & 2) + g / 4];
    if (!kIsWhole && gemm.beta != 0) result += gemm.beta * *place;
    __stcs(place, result);
    place += gemm.ldc;
  }
}

/// A warp computes 16 rows of `columns` columns from A and B: eight rows by 32 columns at once, a column a lane.
__device__ __noinline__ void compute_anew(const GemmSplitArguments& gemm, std::int64_t matrix, std::int64_t first_row,
                                          std::int64_t first_column, int columns) {
  constexpr int kRows = 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int part = 0; part < 2 * columns / 32; ++part) {
    const std::int64_t column = first_column + part / 2 * 32 + lane;
    const std::int64_t row = first_row + part % 2 * kRows;
    if (row >= gemm.m) continue;
    const float* const b = gemm.b + matrix * gemm.stride_b + min(column, gemm.n - 1) * gemm.b_column_stride;
    const float* a[kRows];
    float sum[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      a[i] = gemm.a + matrix * gemm.stride_a + min(row + i, gemm.m - 1) * gemm.a_row_stride;
      sum[i] = 0;
    }
#pragma unroll 4
    for (std::int64_t p = 0; p < gemm.k; ++p) {
      const float factor = b[p * gemm.b_k_stride];
#pragma unroll
      for (int i = 0; i < kRows; ++i) sum[i] = fmaf(a[i][p * gemm.a_k_stride], factor, sum[i]);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (row + i >= gemm.m || column >= gemm.n) continue;
      float* const place = gemm.c + matrix * gemm.stride_c + (row + i) * gemm.ldc + column;
      const float value = gemm.alpha * sum[i];
      *place = gemm.beta != 0 ? value + gemm.beta * *place : value;
    }
  }
}

/// Stores a warp's eight rows of kPairs pairs, 8 columns apart, from a lane's `row` and `column` on: scaled(pair,
/// element) is what becomes of the sums. kIsWhole: all lie inside, beta is 0, and pairs may be stored at once. Then
/// there is no branch: a scheduler has two warps here that can do nothing else meanwhile, so each instruction takes its
/// whole latency. On an H100 that makes a tile of 256 x 128 7500 clocks shorter.
template <bool kNeighbours, bool kIsWhole, int kPairs, class Scaled>
__device__ __forceinline__ void store_half(const GemmSplitArguments& gemm, std::int64_t matrix, std::int64_t row,
                                           std::int64_t column, Scaled scaled) {
  if constexpr (kNeighbours) {
    static_assert(kPairs % 4 == 0);
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int first = 0; first < kPairs; first += 4) {
      float value[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) value[i] = scaled(first + i / 2, i % 2);
      store_neighbours<kIsWhole>(gemm, value, matrix, row - lane / 4, column - lane % 4 * 2 + 8 * first);
    }
  } else {
    if (!kIsWhole && row >= gemm.m) return;
    float* const place = gemm.c + matrix * gemm.stride_c + row * gemm.ldc + column;
#pragma unroll
    for (int j = 0; j < kPairs; ++j) {
      if constexpr (kIsWhole) {
        __stcs(reinterpret_cast<float2*>(place + 8 * j),
               make_float2(gemm.alpha * scaled(j, 0), gemm.alpha * scaled(j, 1)));
      } else {
        store_pair(gemm, place + 8 * j, gemm.n - column - 8 * j, scaled(j, 0), scaled(j, 1));
      }
    }
  }
}

/// Scales a warp's sums back and stores them: with a factor for each row and each column where no product leaves the
/// normal numbers, which is the rule.
template <bool kNeighbours, int kSums>
__device__ __forceinline__ void store_scaled_back(const GemmSplitArguments& gemm, const float (&sum)[kSums],
                                                  std::int64_t matrix, std::int64_t row, std::int64_t column,
                                                  bool is_whole, const int (&row_shifts)[2],
                                                  const int (&shifts)[kSums / 2]) {
  constexpr int kPairs = kSums / 4;
  constexpr int kNear = 60;
  int least = min(row_shifts[0], row_shifts[1]), most = max(row_shifts[0], row_shifts[1]);
#pragma unroll
  for (int j = 0; j < 2 * kPairs; ++j) {
    least = min(least, shifts[j]);
    most = max(most, shifts[j]);
  }
  const bool is_near = __all_sync(~0u, least >= -kNear && most <= kNear);
  const bool is_plain = is_whole && gemm.beta == 0 && (kNeighbours || gemm.aligned_c);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (is_near) {
      const float factor = power_of_two(-row_shifts[half]);
      const auto scaled = [&](int j, int i) {
        return sum[4 * j + 2 * half + i] * factor * power_of_two(-shifts[2 * j + i]);
      };
      if (is_plain) {
        store_half<kNeighbours, true, kPairs>(gemm, matrix, row + 8 * half, column, scaled);
      } else {
        store_half<kNeighbours, false, kPairs>(gemm, matrix, row + 8 * half, column, scaled);
      }
    } else {
      store_half<kNeighbours, false, kPairs>(gemm, matrix, row + 8 * half, column, [&](int j, int i) {
        return scaled_back(sum[4 * j + 2 * half + i], row_shifts[half] + shifts[2 * j + i]);
      });
    }
  }
}

/// What is known of a lane's two rows: of 16 rows g and g + 8.
struct SplitRowNotes {
  GemmSplitNote upper, lower;
};
/// `first_row` is the first of the 16.
__device__ __forceinline__ SplitRowNotes row_notes(const GemmSplitArguments& gemm, std::int64_t matrix,
                                                   std::int64_t first_row) {
  const GemmSplitNote* const rows =
      gemm.a_notes + matrix * gemm.a_matrix_rows + first_row + static_cast<int>(threadIdx.x) % 32 / 4;
  return {rows[0], rows[8]};
}

/// A warp stores its 16 rows of a tile, whose sums are spread as of mma.sync (cuda_matrix_products.cuh), unless one of
/// them is in doubt.
template <bool kNeighbours, int kSums>
[[nodiscard]] __device__ __forceinline__ bool store_unless_in_doubt(const GemmSplitArguments& gemm,
                                                                    const float (&sum)[kSums],
                                                                    const SplitRowNotes& notes, std::int64_t matrix,
                                                                    std::int64_t first_row, std::int64_t first_column) {
  constexpr int kPairs = kSums / 4;
  if (first_row >= gemm.m || first_column >= gemm.n) return true;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = first_row + lane / 4;
  const std::int64_t column = first_column + lane % 4 * 2;
  const auto* const pairs = reinterpret_cast<const int4*>(gemm.b_notes + matrix * gemm.b_matrix_rows + column);

  // Written so that a NaN, of two infinite doubts, is in doubt.
  bool in_doubt = false;
  int shifts[2 * kPairs];
  const auto doubts = [&](float of_row, float of_column, float found) { return !(fabsf(found) >= of_row + of_column); };
  const bool is_whole = first_row + 16 <= gemm.m && first_column + 8 * kPairs <= gemm.n;
  if (is_whole) {
#pragma unroll
    for (int j = 0; j < kPairs; ++j) {
      const int4 pair = __ldg(pairs + j * 4);
      shifts[2 * j] = pair.x;
      shifts[2 * j + 1] = pair.z;
      const float first = __int_as_float(pair.y), second = __int_as_float(pair.w);
      in_doubt |= doubts(notes.upper.doubt, first, sum[4 * j]);
      in_doubt |= doubts(notes.upper.doubt, second, sum[4 * j + 1]);
      in_doubt |= doubts(notes.lower.doubt, first, sum[4 * j + 2]);
      in_doubt |= doubts(notes.lower.doubt, second, sum[4 * j + 3]);
    }
  } else {
#pragma unroll
    for (int j = 0; j < kPairs; ++j) {
      const int4 pair = __ldg(pairs + j * 4);
      shifts[2 * j] = pair.x;
      shifts[2 * j + 1] = pair.z;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float doubt = __int_as_float(i == 0 ? pair.y : pair.w);
        const bool is_inside = column + 8 * j + i < gemm.n;
        in_doubt |= is_inside && row < gemm.m && doubts(notes.upper.doubt, doubt, sum[4 * j + i]);
        in_doubt |= is_inside && row + 8 < gemm.m && doubts(notes.lower.doubt, doubt, sum[4 * j + 2 + i]);
      }
    }
  }
  if (__any_sync(~0u, in_doubt)) return false;
  store_scaled_back<kNeighbours>(gemm, sum, matrix, row, column, is_whole, {notes.upper.shift, notes.lower.shift},
                                 shifts);
  return true;
}

/// The same, and computes them anew where one is in doubt.
template <bool kNeighbours, int kSums>
__device__ __forceinline__ void store_sums(const GemmSplitArguments& gemm, const float (&sum)[kSums],
                                           std::int64_t matrix, std::int64_t first_row, std::int64_t first_column) {
  if (first_row >= gemm.m || first_column >= gemm.n) return;
  const SplitRowNotes notes = row_notes(gemm, matrix, first_row);
  if (store_unless_in_doubt<kNeighbours>(gemm, sum, notes, matrix, first_row, first_column)) return;
  compute_anew(gemm, matrix, first_row, first_column, 2 * kSums);
}

/// What becomes of a tile's sums here. Made before the tile is multiplied; `first_row` is that of the warp's first
/// block of rows. kNeighbours: rows of C begin anywhere, and lanes exchange sums so as to store neighbours.
template <bool kNeighbours>
class StoreSums {
 public:
  static constexpr bool kBesideProducts = false;
  __device__ __forceinline__ StoreSums(const GemmSplitArguments& gemm, const SplitTile& tile, std::int64_t first_row,
                                       std::int64_t first_column)
      : gemm_(gemm), matrix_(tile.matrix), first_row_(first_row), first_column_(first_column) {}
  template <int kSums>
  __device__ __forceinline__ void operator()(const float (&sum)[kSums], int block_m) const {
    store_sums<kNeighbours>(gemm_, sum, matrix_, first_row_ + block_m * kSplitGroups * kSplitRows, first_column_);
  }

 private:
  const GemmSplitArguments& gemm_;
  std::int64_t matrix_, first_row_, first_column_;
};

#else
template <bool kNeighbours>
class StoreSums;
#endif

}  // namespace tessera::cuda
