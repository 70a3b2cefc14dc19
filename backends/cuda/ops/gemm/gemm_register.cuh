// gemm, register: the kernel. A block computes a tile of C (gemm_register_shapes.h), from all of k or from a part of
// it.
//
//                    B  k x n               Stages of `depth` steps along k go through shared memory, several of them
//                   +------+---+----        on their way while one is multiplied (gemm_register_fetch.cuh). A thread
//                   |      |   | stage      holds 8 x 16 or so elements of C in registers and reads, for each step, 24
//                   |      +---+            elements from shared memory for 128 products (gemm_register_fma.cuh,
//                   |      |   | stage      gemm_register_mma.cuh): where a thread with one element reads two for one.
//                   |      +---+
//   A  m x k        |      |   |            Every element of A is read n / columns times from L2 or device memory, of B
//   +--+--+-----  C +------+---+----        m / rows times.
//   |  |  |         |      |   |
//   +--+--+-----    +------+---+            If a block has several `slices` of threads, each slice computes the whole
//   |  |  | ...     |      |tile            tile from its share of the steps of each stage. Blocks that compute the
//   +--+--+-----    +------+---+            same tile from other parts of k lie along the grid's y. Two of them form a
//    stages                                 cluster and add up their sums through each other's shared memory. More than
//                                           two, or any on a card without clusters, write their sums to a workspace,
//                                           and gemm_register_add.cu adds them up.
//
// Where rows of C do not begin at multiples of 16 bytes, and always in float64, whose runs of four are stored in two
// halves of a sector, the sums go through shared memory once more unless a cluster shares the tile: so a warp stores
// neighbours of one row, and sectors of memory are written whole.
//
// All sums are added in a fixed order. Products of a batch lie along the grid's z. docs/studies/gemm.md compares the
// speed with cuBLAS.
#pragma once

#include <type_traits>

#include "ops/gemm/gemm_register_arguments.h"
#include "ops/gemm/gemm_register_shapes.h"
#include "ops/gemm/gemm_register_stages.cuh"
#include "ops/gemm/gemm_register_store.cuh"

namespace tessera::cuda {

/// Adds up what the slices, and then the blocks of a cluster, have each computed of a tile, and calls
/// store(warp, row, column, four elements) for it. Each thread adds up a part of the tile, each block of a cluster too.
template <int kSlices, int kSliceThreads, class Tile, class Vector, class Store>
__device__ __forceinline__ void add_up(const Tile& tile, Vector* vectors, int blocks, Store store) {
  // vectors[slice][block of elements][vector of it][thread of the slice]
  constexpr int kThreads = kSlices * kSliceThreads;
  constexpr int kTile = Tile::kBlocks * kSliceThreads;
  constexpr int kSlice = kTile * Tile::kVectors;
  const int thread = static_cast<int>(threadIdx.x);
  const auto place_of = [&](int block, int vector, int slice_thread) {
    return vectors + (block * Tile::kVectors + vector) * kSliceThreads + slice_thread;
  };

  __syncthreads();  // nobody reads a stage any more
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
    for (int i = 0; i < Tile::kVectors; ++i) {
      place_of(block, i, thread % kSliceThreads)[thread / kSliceThreads * kSlice] = tile.vector(block, i);
    }
  }
  __syncthreads();
  int first = 0;
  int end = kTile;
  if (blocks > 1) {
    if constexpr (kSlices > 1) {
      for (int i = thread; i < kSlice; i += kThreads) vectors[i] = add_slices<kSlices, kSlice>(vectors + i);
    }
    wait_for_cluster();
    const int share = (kTile + blocks - 1) / blocks;
    first = share * rank_in_cluster();
    end = min(first + share, kTile);
  }
  for (int index = first + thread; index < end; index += kThreads) {
    const int block = index / kSliceThreads;
    const int its_thread = index % kSliceThreads;
    Vector sum[Tile::kVectors];
#pragma unroll
    for (int i = 0; i < Tile::kVectors; ++i) {
      const Vector* const place = place_of(block, i, its_thread);
      sum[i] = blocks > 1 ? add_blocks(place, blocks) : add_slices<kSlices, kSlice>(place);
    }
    Tile::store_block(its_thread % 32, block, sum,
                      [&](int row, int column, const auto* run) { store(its_thread / 32, row, column, run); });
  }
  if (blocks > 1) wait_for_cluster();  // the others still read from this block
}

/// kAligned: every row of A and B begins at a multiple of 16 bytes, and so does every part of k. Where not, the
/// arguments say what each is copied in, from sm_80 on.
template <GemmRegisterShape kShape, class Warp, bool kTransposeA, bool kTransposeB, bool kAligned>
__device__ __forceinline__ void gemm_register(const GemmRegisterArguments<typename Warp::T>& gemm) {
  using T = typename Warp::T;
  constexpr int kThreads = kShape.threads();
  constexpr int kSteps = kShape.depth / kShape.slices;  // of a thread, of a stage
  constexpr int kStages = kAsynchronousCopies ? kShape.stages : 2;
  constexpr int kWide = kAligned ? kChunk<T> : kAsynchronousCopies ? kAnyVector : 1;
  constexpr GemmLayout kLayoutA = layout_of(kShape, !kTransposeA, kAligned);
  using StageA = typename Warp::template StageA<stage_extent(kShape.tile_m, kLayoutA), kShape.depth, kLayoutA>;
  constexpr GemmLayout kLayoutB = layout_of(kShape, kTransposeB, kAligned);
  using StageB = typename Warp::template StageB<kShape.tile_n, kShape.depth, kLayoutB>;
  using OperandA = Operand<StageA, kThreads, StageA::kIsScattered ? 1 : kWide, kStages>;
  using OperandB = Operand<StageB, kThreads, StageB::kIsScattered ? 1 : kWide, kStages>;
  using Tile = typename Warp::template Tile<StageA, StageB>;
  static_assert(kShape.tile_m == Warp::kRows * kShape.warps_m && kShape.tile_n == Warp::kColumns * kShape.warps_n);
  static_assert(kShape.depth % kShape.slices == 0 && kSteps % Tile::kSteps == 0);
  static_assert(kShape.along_k != GemmLayout::scattered || kSteps % 8 == 0, "a slice begins where twists begin anew");
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  T* const shared = reinterpret_cast<T*>(shared_bytes_of_block);

  let_next_kernel_start();
  const TilePlace place = tile_of_block(gemm);
  const std::int64_t row0 = static_cast<std::int64_t>(place.row) * kShape.tile_m;
  const std::int64_t column0 = static_cast<std::int64_t>(place.column) * kShape.tile_n;
  const std::int64_t k_begin = blockIdx.y * gemm.split_k;
  const std::int64_t k_left = gemm.k - k_begin;
  const std::int64_t k_here = k_left < gemm.split_k ? k_left : gemm.split_k;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32 % (kShape.warps_m * kShape.warps_n);
  const int slice = thread / kShape.slice_threads();

  Tile tile(lane, warp / kShape.warps_n * Warp::kRows, warp % kShape.warps_n * Warp::kColumns, slice * kSteps);
  wait_for_kernel_before();
  if (k_here > 0) {
    const int count = static_cast<int>((k_here + kShape.depth - 1) / kShape.depth);
    const int remainder = static_cast<int>(k_here - static_cast<std::int64_t>(count - 1) * kShape.depth);
    OperandA a(shared, gemm.a + blockIdx.z * gemm.stride_a, gemm.lda, row0, gemm.m, k_begin, gemm.copied_a);
    OperandB b(shared + OperandA::kSize, gemm.b + blockIdx.z * gemm.stride_b, gemm.ldb, column0, gemm.n, k_begin,
               gemm.copied_b);
    multiply_stages<kStages, kSteps>(tile, a, b, count, remainder);
  }

  T* const c = gemm.c + blockIdx.z * gemm.stride_c + blockIdx.y * gemm.split_stride;
  const auto store = [&](int its_warp, int row, int column, const T* run) {
    store_run(gemm, c, row0 + its_warp / kShape.warps_n * Warp::kRows + row,
              column0 + its_warp % kShape.warps_n * Warp::kColumns + column, run);
  };
  auto* const vectors = reinterpret_cast<Run<T, kChunk<T>>*>(shared);
  const int blocks = blocks_of_cluster();
  if (gemm.stages_c) {
    // Behind the slices' sums, if there are any.
    T* const rows = shared + (kShape.slices > 1 ? kShape.slices * kShape.elements() : 0);
    const auto keep = [&](int its_warp, int row, int column, const T* run) {
      keep_run(rows + (its_warp / kShape.warps_n * Warp::kRows + row) * kShape.tile_n +
                   its_warp % kShape.warps_n * Warp::kColumns + column,
               run);
    };
    if constexpr (kShape.slices == 1) {
      __syncthreads();  // nobody reads a stage any more
      tile.store_all(lane, [&](int row, int column, const T* run) { keep(warp, row, column, run); });
    } else {
      add_up<kShape.slices, kShape.slice_threads()>(tile, vectors, 1, keep);
    }
    __syncthreads();
    store_rows<kShape.tile_m, kShape.tile_n, kThreads>(gemm, c, row0, column0, rows);
    return;
  }
  if (kShape.slices == 1 && blocks == 1) {
    tile.store_all(lane, [&](int row, int column, const T* run) { store(warp, row, column, run); });
  } else {
    add_up<kShape.slices, kShape.slice_threads()>(tile, vectors, blocks, store);
  }
}

}  // namespace tessera::cuda
