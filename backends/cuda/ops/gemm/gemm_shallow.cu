// gemm, shallow: sums so short that the product is little more than the writing of C, as fast as memory takes it.
//
//                   B  k x n                       a group  = 8 to 64 rows x 32 or 128 columns of C
//                  +-----+-----------+--           a warp   = every eighth of the rows
//               k  |     |///////////|             a thread = 1 to 8 rows of every 32nd column, 1 or 4 of them
//                  +-----+-----------+--
//      A  m x k      C                             16 steps of both operands lie in shared memory. A warp reads its
//      +---+       +-----+-----------+--           rows' elements of A at once, a broadcast, and neighbours of B, for
//      |   |       |     |           |             rows x runs products of each thread. It stores 32 neighbours at
//      |///| row 0 |     |..|--------|..           once.
//      |   | row 1 |     |...|-------|.
//      |///| row 8 |     |..|--------|..           Where rows of C do not begin at a sector of 32 bytes, a tile begins
//      +---+       +-----+-----------+--           up to a sector earlier than its place, where one does. Rows that are
//                                                  eight apart begin alike, so a warp's columns are the same in all its
//                                                  rows, and sectors are written whole.
//
// Where C has few columns, a warp stands in four rows of 8 columns, and a group has 64 or 256 rows: rows that lie one
// behind the other are still stored side by side. Many small products are shared by groups of two warps, of which more
// run at once: 32 rows of 8 columns or 16 of 16.
//
// Every element of A is read n / tile_n times, of B m / tile_m times, mostly from L2; C is written once, and read where
// beta says so. Tiles lie along the grid's x, row by row, products of a batch along z.
#include "cuda_kernel_overlap.cuh"
#include "ops/gemm/gemm_shallow_arguments.h"

namespace tessera::cuda {

/// Neighbours in shared memory that are read at once.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) ShallowRun {
  T element[kCount];
};

/// Which of the rows or columns of a tile exist.
struct Inside {
  int begin;
  int end;

  /// Of a tile of `extent` from `first` on, where there are `limit`.
  __device__ Inside(std::int64_t first, std::int64_t limit, int extent)
      : begin(first < 0 ? static_cast<int>(-first) : 0),
        end(limit - first < extent ? static_cast<int>(limit - first) : extent) {}
  [[nodiscard]] __device__ __forceinline__ bool has(int index) const { return index >= begin && index < end; }
};

/// What a thread brings of kExtent rows or columns of an operand and up to kShallowDepth steps of k: from memory to its
/// registers, and later from there to shared memory. What does not exist is not written, and what comes of it is not
/// stored.
template <class T, int kExtent, int kThreads>
class Brought {
 public:
  /// Starts to load `depth` steps from `matrix` on, as far as they exist.
  __device__ __forceinline__ void load(const T* matrix, std::int64_t leading, bool along_k, Inside inside, int depth) {
    if (along_k) {
      if (step() >= depth) return;
      const T* from = matrix + row() * leading + step();
#pragma unroll
      for (int pass = 0; pass < kPassesAlong; ++pass) {
        if (inside.has(row() + pass * kRows)) value_[pass] = *from;
        from += kRows * leading;
      }
    } else {
      const T* from = matrix + across_row() * leading + lane();
#pragma unroll
      for (int pass = 0; pass < kPassesAcross; ++pass) {
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) {
          if (across_row() + pass * kRowsAcross < depth && inside.has(lane() + piece * kWidth)) {
            value_[pass * kPieces + piece] = from[piece * kWidth];
          }
        }
        from += kRowsAcross * leading;
      }
    }
  }

  /// place(step, index) says where to.
  template <class Place>
  __device__ __forceinline__ void store(bool along_k, Inside inside, int depth, Place place) const {
    if (along_k) {
      if (step() >= depth) return;
#pragma unroll
      for (int pass = 0; pass < kPassesAlong; ++pass) {
        if (inside.has(row() + pass * kRows)) *place(step(), row() + pass * kRows) = value_[pass];
      }
    } else {
#pragma unroll
      for (int pass = 0; pass < kPassesAcross; ++pass) {
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) {
          const int l = across_row() + pass * kRowsAcross;
          if (l < depth && inside.has(lane() + piece * kWidth)) {
            *place(l, lane() + piece * kWidth) = value_[pass * kPieces + piece];
          }
        }
      }
    }
  }

 private:
  // Where k lies along the stored rows, kShallowDepth neighbours read one; where it lies across, kWidth of them do.
  static constexpr int kRows = kThreads / kShallowDepth;
  static constexpr int kPassesAlong = (kExtent + kRows - 1) / kRows;
  static constexpr int kWidth = kExtent <= 8 ? 8 : kExtent <= 16 ? 16 : 32;
  static constexpr int kPieces = (kExtent + kWidth - 1) / kWidth;
  static constexpr int kRowsAcross = kThreads / kWidth;
  static constexpr int kPassesAcross = (kShallowDepth + kRowsAcross - 1) / kRowsAcross;
  static constexpr int kCount = kPassesAlong > kPassesAcross* kPieces ? kPassesAlong : kPassesAcross* kPieces;

  static __device__ __forceinline__ int step() {
    return static_cast<int>(threadIdx.x) % kShallowDepth;
  }
  static __device__ __forceinline__ int row() {
    return static_cast<int>(threadIdx.x) / kShallowDepth;
  }
  static __device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x) % kWidth;
  }
  static __device__ __forceinline__ int across_row() {
    return static_cast<int>(threadIdx.x) / kWidth;
  }

  T value_[kCount];
};

/// C of a thread's sums, from `place` on: its rows are kDown apart, its columns 32.
template <int kDown, int kRows, int kRuns, class T>
__device__ __forceinline__ void store_sums(const GemmArguments<T>& gemm, const T (&sums)[kRows][kRuns], T* place,
                                           int row, Inside rows, int column, Inside columns) {
  constexpr int kAtOnce = kRows < 2 ? kRows : 2;  // rows of C whose loads are on their way together
  const std::int64_t step = kDown * gemm.ldc;
#pragma unroll
  for (int first = 0; first < kRows; first += kAtOnce) {
    T value[kAtOnce][kRuns] = {};
    if (gemm.beta != T(0)) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
#pragma unroll
        for (int run = 0; run < kRuns; ++run) {
          if (rows.has(row + (first + i) * kDown) && columns.has(column + 32 * run)) {
            value[i][run] = place[i * step + 32 * run];
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
#pragma unroll
      for (int run = 0; run < kRuns; ++run) {
        T sum = gemm.alpha * sums[first + i][run];
        if (gemm.beta != T(0)) sum += gemm.beta * value[i][run];
        if (rows.has(row + (first + i) * kDown) && columns.has(column + 32 * run)) {
          place[i * step + 32 * run] = sum;
        }
      }
    }
    place += kAtOnce * step;
  }
}

template <int kRows, int kRuns, int kAcross, int kThreads, class T>
__device__ __forceinline__ void gemm_shallow(const GemmShallowArguments<T>& arguments) {
  constexpr GemmShallowShape kShape{kRows, kRuns, kAcross, kThreads};
  constexpr int kDown = kShape.down();
  constexpr int kSector = kShape.may_shift() ? kShallowSector<T> : 0;
  constexpr int kColumns = kShape.tile_n() + kSector;  // a tile begins up to a sector early
  constexpr int kStep = kColumns + 1;                  // so that steps of one column lie in different banks
  using Rows = ShallowRun<T, kRows>;
  // 16 bytes more than a step takes, so that steps of one row lie in different banks too.
  constexpr int kStepOfA = kDown * kRows + 16 / static_cast<int>(sizeof(T));
  __shared__ alignas(16) T a[kShallowDepth * kStepOfA];
  __shared__ T b[kShallowDepth * kStep];
  const int lane = static_cast<int>(threadIdx.x) % kAcross;
  const int own_row = static_cast<int>(threadIdx.x) / kAcross;

  let_next_kernel_start();
  wait_for_kernel_before();
  const GemmArguments<T>& gemm = arguments.gemm;
  const std::int64_t row0 = blockIdx.x / arguments.tiles_n * std::int64_t{kShape.tile_m()};
  const std::int64_t column0 =
      blockIdx.x % arguments.tiles_n * std::int64_t{kShape.tile_n()} - kSector;  // of what is staged
  const Inside rows(row0, gemm.m, kShape.tile_m());
  const Inside columns(column0, gemm.n, kColumns);
  T* const c = gemm.c + blockIdx.z * gemm.stride_c + (row0 + own_row) * gemm.ldc + column0;
  const auto begin = static_cast<int>(reinterpret_cast<std::uintptr_t>(c) / sizeof(T) % kShallowSector<T>);
  const int column = kSector - (kShape.may_shift() && arguments.shifts ? begin : 0) + lane;
  T sums[kRows][kRuns] = {};
  const T* from_a = gemm.a + blockIdx.z * gemm.stride_a + (gemm.transpose_a ? row0 : row0 * gemm.lda);
  const T* from_b = gemm.b + blockIdx.z * gemm.stride_b + (gemm.transpose_b ? column0 * gemm.ldb : column0);
  Brought<T, kShape.tile_m(), kThreads> brought_a;
  Brought<T, kColumns, kThreads> brought_b;
  const auto load = [&](int depth) {
    brought_a.load(from_a, gemm.lda, !gemm.transpose_a, rows, depth);
    brought_b.load(from_b, gemm.ldb, gemm.transpose_b, columns, depth);
    from_a += kShallowDepth * (gemm.transpose_a ? gemm.lda : 1);
    from_b += kShallowDepth * (gemm.transpose_b ? 1 : gemm.ldb);
  };
  // The next steps are on their way during the products, unless sums fill the registers.
  constexpr bool kLoadsAhead = kRows * kRuns * sizeof(T) < 64;
  if (kLoadsAhead) load(min(static_cast<int>(gemm.k), kShallowDepth));
  for (int left = static_cast<int>(gemm.k); left > 0; left -= kShallowDepth) {
    const int depth = min(left, kShallowDepth);
    if (!kLoadsAhead) load(depth);
    __syncthreads();  // what was there before has been used
    brought_a.store(!gemm.transpose_a, rows, depth,
                    [&](int l, int row) { return a + l * kStepOfA + row % kDown * kRows + row / kDown; });
    brought_b.store(gemm.transpose_b, columns, depth, [&](int l, int index) { return b + l * kStep + index; });
    __syncthreads();
    if (kLoadsAhead && left > kShallowDepth) load(min(left - kShallowDepth, kShallowDepth));
#pragma unroll(kRows* kRuns > 16 ? 2 : 4)
    for (int l = 0; l < depth; ++l) {
      const Rows of_a = *reinterpret_cast<const Rows*>(a + l * kStepOfA + own_row * kRows);
#pragma unroll
      for (int run = 0; run < kRuns; ++run) {
        const T of_b = b[l * kStep + column + 32 * run];
#pragma unroll
        for (int i = 0; i < kRows; ++i) sums[i][run] += of_a.element[i] * of_b;
      }
    }
  }
  store_sums<kDown>(gemm, sums, c + column, own_row, rows, column, columns);
}

}  // namespace tessera::cuda

// gemm_shallow.cpp builds the same names.
#define TESSERA_GEMM_SHALLOW(T, type, rows, runs, across, threads)                                                     \
  extern "C" __global__ void __launch_bounds__(threads, 256 / (threads) * ((rows) * (runs) * sizeof(T) > 128 ? 2 : 3)) \
      tessera_gemm_shallow_##type##_##rows##_##runs##_##across##_##threads(                                            \
          const __grid_constant__ tessera::cuda::GemmShallowArguments<T> arguments) {                                  \
    tessera::cuda::gemm_shallow<rows, runs, across, threads>(arguments);                                               \
  }
#define TESSERA_GEMM_SHALLOW_BOTH(rows, runs, across, threads)      \
  TESSERA_GEMM_SHALLOW(float, float32, rows, runs, across, threads) \
  TESSERA_GEMM_SHALLOW(double, float64, rows, runs, across, threads)

TESSERA_GEMM_SHALLOW_BOTH(2, 1, 32, 256)
TESSERA_GEMM_SHALLOW_BOTH(1, 4, 32, 256)
TESSERA_GEMM_SHALLOW_BOTH(2, 4, 32, 256)
TESSERA_GEMM_SHALLOW_BOTH(8, 1, 32, 256)
TESSERA_GEMM_SHALLOW_BOTH(8, 4, 32, 256)
TESSERA_GEMM_SHALLOW_BOTH(2, 1, 8, 256)
TESSERA_GEMM_SHALLOW_BOTH(8, 1, 8, 256)
TESSERA_GEMM_SHALLOW_BOTH(4, 1, 8, 64)
TESSERA_GEMM_SHALLOW_BOTH(4, 1, 16, 64)
