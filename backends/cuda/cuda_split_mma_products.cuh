// Products of split rows by warps (mma.sync), from sm_80 on, whoever wants them.
//
//   a block's tile                  A warp has its part of the tile in float32 registers and walks along k in steps
//   +--------+--------+             of 16. For each 16 rows, with x = x1 + x2 and x1 the rounded element, it
//   | warp 0 | warp 1 | row_blocks  multiplies x2 y1 + x1 y2 + x1 y1, the small ones first, and adds what the tensor
//   +--------+--------+ of 16 rows  cores give to its registers at once: they cut sums off instead of rounding them,
//   | warp 2 | warp 3 |             so theirs are three instructions long.
//   +--------+--------+
//   column_blocks of 16             Where no rest is kept, the second plane is k as well: a step is two instructions.
//
// Stages of both operands go round in shared memory, by copies that pass no register. In a stage, as in a panel
// (cuda_split_shape.h), chunks of 16 bytes of all rows lie one behind the other, so that the eight rows of a matrix
// that ldmatrix reads are 128 bytes that lie together, and no two share a bank. Which steps of k a chunk holds is of no
// account, as long as A and B agree.
#pragma once

#include "cuda_asynchronous_copy.cuh"
#include "cuda_matrix_products.cuh"
#include "cuda_split_mma_shape.h"

namespace tessera::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define TESSERA_CUDA_HAS_SPLIT_MMA 1
#endif

#if defined(TESSERA_CUDA_HAS_SPLIT_MMA)

/// A thread's part in fetching the panels of a block of kRows rows, kSteps of kSplitStep of both planes at a time. Like
/// all that fetch for multiply_split_stages(), it starts to copy the next stage, and moves on.
template <int kRows, int kSteps, int kThreads>
class SplitPanelFetch {
 public:
  __device__ __forceinline__ explicit SplitPanelFetch(const unsigned char* panels)
      : from_(panels + threadIdx.x * kSplitChunkBytes) {}

  __device__ __forceinline__ void start(unsigned char* stage) {
    unsigned char* const to = stage + threadIdx.x * kSplitChunkBytes;
#pragma unroll
    for (int plane = 0; plane < kSplitPlanes; ++plane) {
#pragma unroll
      for (int at = 0; at < kPartBytes; at += kThreads * kSplitChunkBytes) {
        copy_asynchronously<kSplitChunkBytes>(to + plane * kPartBytes + at, from_ + plane * kPlaneBytes + at,
                                              kSplitChunkBytes);
      }
    }
    from_ += kPartBytes;
    if (++of_panel_ < kSplitPlane / kSplitStep / kSteps) return;
    of_panel_ = 0;
    from_ += (kSplitPlanes - 1) * kPlaneBytes;
  }

 private:
  static constexpr int kPlaneBytes = kRows * kSplitPlane * 2;
  static constexpr int kPartBytes = kSteps * kSplitStepChunks * kRows * kSplitChunkBytes;  ///< of a plane, of a stage
  static_assert(kPartBytes % (kThreads * kSplitChunkBytes) == 0 && kSplitPlane / kSplitStep % kSteps == 0);

  const unsigned char* from_;
  int of_panel_ = 0;  // stages of it that were started
};

/// A warp's sums: for each 16 rows those that store_sums() of gemm_split_store.cuh takes, spread as of mma.sync.
template <SplitMmaShape kShape>
using SplitMmaSums = float[kShape.row_blocks][4 * kShape.pairs()];

/// The warp's first row and column in the tile.
template <SplitMmaShape kShape>
__device__ __forceinline__ int split_mma_row() {
  return static_cast<int>(threadIdx.x) / 32 / kShape.warps_n * kShape.row_blocks * kSplitMmaBlock;
}
template <SplitMmaShape kShape>
__device__ __forceinline__ int split_mma_column() {
  return static_cast<int>(threadIdx.x) / 32 % kShape.warps_n * kShape.column_blocks * kSplitMmaBlock;
}

/// Adds the products of a step of k. `a` and `b`: what this lane reads of the warp's first blocks, of the step's first
/// plane; the second plane lies kPlane further.
template <SplitMmaShape kShape, bool kHasRest, int kPlaneA, int kPlaneB>
__device__ __forceinline__ void multiply_split_step(SplitMmaSums<kShape>& total, const unsigned char* a,
                                                    const unsigned char* b) {
  constexpr int kBlockBytes = kSplitMmaBlock * kSplitChunkBytes;
  // Two columns' words of each block: 0 and 1 are the first 8 columns', 2 and 3 the next ones'.
  unsigned b_first[kShape.column_blocks][4], b_second[kShape.column_blocks][4];
#pragma unroll
  for (int j = 0; j < kShape.column_blocks; ++j) {
    load_matrices(b_first[j], b + j * kBlockBytes);
    load_matrices(b_second[j], b + kPlaneB + j * kBlockBytes);
  }
#pragma unroll
  for (int i = 0; i < kShape.row_blocks; ++i) {
    unsigned a_first[4], a_second[4];
    load_matrices(a_first, a + i * kBlockBytes);
    load_matrices(a_second, a + kPlaneA + i * kBlockBytes);
    float sum[kShape.pairs()][4];
#pragma unroll
    for (int j = 0; j < kShape.pairs(); ++j) {
      const auto& other = kHasRest ? b_first : b_second;
      begin_16x8(sum[j], a_second, other[j / 2][j % 2 * 2], other[j / 2][j % 2 * 2 + 1]);
    }
    if constexpr (kHasRest) {
#pragma unroll
      for (int j = 0; j < kShape.pairs(); ++j) {
        multiply_16x8(sum[j], a_first, b_second[j / 2][j % 2 * 2], b_second[j / 2][j % 2 * 2 + 1]);
      }
    }
#pragma unroll
    for (int j = 0; j < kShape.pairs(); ++j) {
      multiply_16x8(sum[j], a_first, b_first[j / 2][j % 2 * 2], b_first[j / 2][j % 2 * 2 + 1]);
    }
#pragma unroll
    for (int j = 0; j < 4 * kShape.pairs(); ++j) total[i][j] += sum[j / 4][j % 4];
  }
}

/// Sums of a tile over `count` stages, of this lane. `shared`: kShape.shared_bytes().
template <SplitMmaShape kShape, bool kHasRest, class FetchA, class FetchB>
__device__ __forceinline__ void multiply_split_stages(SplitMmaSums<kShape>& total, unsigned char* shared, FetchA& a,
                                                      FetchB& b, int count) {
  constexpr int kStageA = kShape.stage_bytes_of_a();
  constexpr int kStage = kStageA + kShape.stage_bytes_of_b();
  constexpr int kStepA = kSplitStepChunks * kShape.tile_m() * kSplitChunkBytes;
  constexpr int kStepB = kSplitStepChunks * kShape.tile_n() * kSplitChunkBytes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // The rows that this lane's addresses stand for: of A, matrices are 8 rows and the next 8 of one chunk, then of the
  // next chunk; of B, both chunks of 8 rows, then of the next 8.
  const int its_a = (lane / 16 * kShape.tile_m() + split_mma_row<kShape>() + lane % 16) * kSplitChunkBytes;
  const int its_b = kStageA + (lane / 8 % 2 * kShape.tile_n() + split_mma_column<kShape>() + lane / 16 * 8 + lane % 8) *
                                  kSplitChunkBytes;
  int left = count;
  const auto start = [&](int slot) {
    if (left > 0) {
      --left;
      a.start(shared + slot * kStage);
      b.start(shared + slot * kStage + kStageA);
    }
    close_group();
  };
#pragma unroll
  for (int slot = 0; slot < kShape.stages - 1; ++slot) start(slot);
#pragma unroll
  for (int i = 0; i < kShape.row_blocks * 4 * kShape.pairs(); ++i) {
    total[i / (4 * kShape.pairs())][i % (4 * kShape.pairs())] = 0;
  }
  int read = 0;
#pragma unroll 1
  for (int stage = 0; stage < count; ++stage) {
    wait_for_groups<kShape.stages - 2>();
    // The stage is there for all, and nobody reads any more what the next one replaces.
    __syncthreads();
    start(read == 0 ? kShape.stages - 1 : read - 1);
    const unsigned char* const begin = shared + read * kStage;
#pragma unroll
    for (int step = 0; step < kShape.steps; ++step) {
      multiply_split_step<kShape, kHasRest, kShape.steps * kStepA, kShape.steps * kStepB>(
          total, begin + its_a + step * kStepA, begin + its_b + step * kStepB);
    }
    read = read + 1 == kShape.stages ? 0 : read + 1;
  }
}

#endif  // TESSERA_CUDA_HAS_SPLIT_MMA

}  // namespace tessera::cuda
