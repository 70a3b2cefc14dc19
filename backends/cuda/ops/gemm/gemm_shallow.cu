// gemm, shallow: sums so short that the product is little more than the writing of C, as fast as memory takes it.
//
//                   B  k x n                       a group  = 16 or 64 rows x 32 or 128 columns of C
//                  +-----+-----------+--           a warp   = every eighth of the rows
//               k  |     |///////////|             a thread = 2 or 8 rows of every 32nd column, 1 or 4 of them
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

/// Brings kExtent rows or columns of an operand and `depth` steps of k to shared memory, from `matrix` on, as far as
/// they exist: place(step, index) says where to. What does not exist is not written, and what comes of it is not
/// stored. All loads are on their way before the first is written.
template <int kExtent, class T, class Place>
__device__ __forceinline__ void stage(const T* matrix, std::int64_t leading, bool along_k, Inside inside, int depth,
                                      Place place) {
  const int thread = static_cast<int>(threadIdx.x);
  if (along_k) {
    constexpr int kStep = kShallowThreads / kShallowDepth;
    constexpr int kPasses = (kExtent + kStep - 1) / kStep;
    const int l = thread % kShallowDepth;
    const int index = thread / kShallowDepth;
    if (l >= depth) return;
    const T* from = matrix + index * leading + l;
    T value[kPasses];
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (inside.has(index + pass * kStep)) value[pass] = *from;
      from += kStep * leading;
    }
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (inside.has(index + pass * kStep)) *place(l, index + pass * kStep) = value[pass];
    }
  } else {
    constexpr int kPasses = (kExtent + 31) / 32;
    const int lane = thread % 32;
    for (int l = thread / 32; l < depth; l += kShallowWarps) {
      const T* const from = matrix + l * leading + lane;
      T value[kPasses];
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (inside.has(lane + pass * 32)) value[pass] = from[pass * 32];
      }
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (inside.has(lane + pass * 32)) *place(l, lane + pass * 32) = value[pass];
      }
    }
  }
}

/// C of a thread's sums, from `place` on: its rows are kShallowWarps apart, its columns 32.
template <int kRows, int kRuns, class T>
__device__ __forceinline__ void store_sums(const GemmArguments<T>& gemm, const T (&sums)[kRows][kRuns], T* place,
                                           int row, Inside rows, int column, Inside columns) {
  constexpr int kAtOnce = 2;  // rows of C whose loads are on their way together
  const std::int64_t step = kShallowWarps * gemm.ldc;
#pragma unroll
  for (int first = 0; first < kRows; first += kAtOnce) {
    T value[kAtOnce][kRuns] = {};
    if (gemm.beta != T(0)) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
#pragma unroll
        for (int run = 0; run < kRuns; ++run) {
          if (rows.has(row + (first + i) * kShallowWarps) && columns.has(column + 32 * run)) {
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
        if (rows.has(row + (first + i) * kShallowWarps) && columns.has(column + 32 * run)) {
          place[i * step + 32 * run] = sum;
        }
      }
    }
    place += kAtOnce * step;
  }
}

template <int kRows, int kRuns, class T>
__device__ __forceinline__ void gemm_shallow(const GemmShallowArguments<T>& arguments) {
  constexpr GemmShallowShape kShape{kRows, kRuns};
  constexpr int kSector = kShallowSector<T>;
  constexpr int kColumns = kShape.tile_n() + kSector;  // a tile begins up to a sector early
  constexpr int kStep = kColumns + 1;                  // so that steps of one column lie in different banks
  using Rows = ShallowRun<T, kRows>;
  __shared__ Rows a[kShallowDepth][kShallowWarps];
  __shared__ T b[kShallowDepth * kStep];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  let_next_kernel_start();
  wait_for_kernel_before();
  const GemmArguments<T>& gemm = arguments.gemm;
  const std::int64_t row0 = blockIdx.x / arguments.tiles_n * std::int64_t{kShape.tile_m()};
  const std::int64_t column0 =
      blockIdx.x % arguments.tiles_n * std::int64_t{kShape.tile_n()} - kSector;  // of what is staged
  const Inside rows(row0, gemm.m, kShape.tile_m());
  const Inside columns(column0, gemm.n, kColumns);
  T* const c = gemm.c + blockIdx.z * gemm.stride_c + (row0 + warp) * gemm.ldc + column0;
  const auto begin = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(c) / sizeof(T) % kSector);
  const int column = kSector - (arguments.shifts ? static_cast<int>(begin) : 0) + lane;
  T sums[kRows][kRuns] = {};
  const T* from_a = gemm.a + blockIdx.z * gemm.stride_a + (gemm.transpose_a ? row0 : row0 * gemm.lda);
  const T* from_b = gemm.b + blockIdx.z * gemm.stride_b + (gemm.transpose_b ? column0 * gemm.ldb : column0);
  for (int left = static_cast<int>(gemm.k); left > 0; left -= kShallowDepth) {
    const int depth = min(left, kShallowDepth);
    __syncthreads();  // what was there before has been used
    stage<kShape.tile_m()>(from_a, gemm.lda, !gemm.transpose_a, rows, depth,
                           [&](int l, int row) { return &a[l][row % kShallowWarps].element[row / kShallowWarps]; });
    stage<kColumns>(from_b, gemm.ldb, gemm.transpose_b, columns, depth,
                    [&](int l, int index) { return b + l * kStep + index; });
    __syncthreads();
    from_a += kShallowDepth * (gemm.transpose_a ? gemm.lda : 1);
    from_b += kShallowDepth * (gemm.transpose_b ? 1 : gemm.ldb);
#pragma unroll(kRows* kRuns > 16 ? 2 : 4)
    for (int l = 0; l < depth; ++l) {
      const Rows of_a = a[l][warp];
#pragma unroll
      for (int run = 0; run < kRuns; ++run) {
        const T of_b = b[l * kStep + column + 32 * run];
#pragma unroll
        for (int i = 0; i < kRows; ++i) sums[i][run] += of_a.element[i] * of_b;
      }
    }
  }
  store_sums(gemm, sums, c + column, warp, rows, column, columns);
}

}  // namespace tessera::cuda

// gemm_shallow.cpp builds the same names.
#define TESSERA_GEMM_SHALLOW(T, type, rows, runs)                                         \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kShallowThreads,            \
                                               (rows) * (runs) * sizeof(T) > 128 ? 2 : 3) \
      tessera_gemm_shallow_##type##_##rows##_##runs(                                      \
          const __grid_constant__ tessera::cuda::GemmShallowArguments<T> arguments) {     \
    tessera::cuda::gemm_shallow<rows, runs>(arguments);                                   \
  }
#define TESSERA_GEMM_SHALLOW_BOTH(rows, runs)      \
  TESSERA_GEMM_SHALLOW(float, float32, rows, runs) \
  TESSERA_GEMM_SHALLOW(double, float64, rows, runs)

TESSERA_GEMM_SHALLOW_BOTH(2, 1)
TESSERA_GEMM_SHALLOW_BOTH(2, 4)
TESSERA_GEMM_SHALLOW_BOTH(8, 1)
TESSERA_GEMM_SHALLOW_BOTH(8, 4)
