// What gemm's register variant does beside multiplying: which tile a block computes, how C is stored, and how blocks of
// a cluster exchange their sums.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "ops/gemm/gemm_register_arguments.h"
#include "ops/gemm/gemm_register_fetch.cuh"

namespace tessera::cuda {

/// A place in the grid of tiles.
struct TilePlace {
  int row;
  int column;
};

/// Blocks with neighbouring numbers run at the same time and share what they read through the L2 cache, so they walk
/// along m within a band of tiles before they step along n.
template <class T>
__device__ __forceinline__ TilePlace tile_of_block(const GemmRegisterArguments<T>& gemm) {
  const int block = static_cast<int>(blockIdx.x);
  const int of_band = gemm.band * gemm.tiles_n;
  const int band = block / of_band;
  const int first = band * gemm.band;
  const int height = min(gemm.band, gemm.tiles_m - first);
  const int inside = block - band * of_band;
  return {first + inside % height, inside / height};
}

/// C = alpha * sum + beta * C for four neighbouring elements of a row, as far as they lie inside; with beta = 0, C is
/// not read.
template <class T>
__device__ __forceinline__ void store_run(const GemmRegisterArguments<T>& gemm, T* c, std::int64_t row,
                                          std::int64_t column, const T* sum) {
  if (row >= gemm.m) return;
  T* const place = c + row * gemm.ldc + column;
  if (gemm.aligned_c && column + 4 <= gemm.n) {
#pragma unroll
    for (int i = 0; i < 4; i += kChunk<T>) {
      auto* const run = reinterpret_cast<Run<T, kChunk<T>>*>(place + i);
      Run<T, kChunk<T>> value{};
      if (gemm.beta != T(0)) value = *run;
#pragma unroll
      for (int j = 0; j < kChunk<T>; ++j) {
        value.element[j] =
            gemm.beta != T(0) ? gemm.alpha * sum[i + j] + gemm.beta * value.element[j] : gemm.alpha * sum[i + j];
      }
      *run = value;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (column + i < gemm.n) {
      T value = gemm.alpha * sum[i];
      if (gemm.beta != T(0)) value += gemm.beta * place[i];
      place[i] = value;
    }
  }
}

/// Four neighbours to a multiple of 16 bytes in shared memory.
template <class T>
__device__ __forceinline__ void keep_run(T* place, const T* run) {
#pragma unroll
  for (int i = 0; i < 4; i += kChunk<T>) {
    Run<T, kChunk<T>> chunk;
#pragma unroll
    for (int j = 0; j < kChunk<T>; ++j) chunk.element[j] = run[i + j];
    *reinterpret_cast<Run<T, kChunk<T>>*>(place + i) = chunk;
  }
}

/// C of a tile whose sums lie in shared memory, row by row: a warp takes a row, from the sector of 32 bytes on in which
/// the row of the tile begins.
template <int kTileM, int kTileN, int kThreads, class T>
__device__ __forceinline__ void store_rows(const GemmRegisterArguments<T>& gemm, T* c, std::int64_t row0,
                                           std::int64_t column0, const T* sums) {
  constexpr int kSector = 32 / static_cast<int>(sizeof(T));
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int end_m = gemm.m - row0 < kTileM ? static_cast<int>(gemm.m - row0) : kTileM;
  const int end_n = gemm.n - column0 < kTileN ? static_cast<int>(gemm.n - column0) : kTileN;
#pragma unroll 1
  for (int row = static_cast<int>(threadIdx.x) / 32; row < end_m; row += kThreads / 32) {
    T* const place = c + (row0 + row) * gemm.ldc + column0;
    const int first = lane - static_cast<int>(reinterpret_cast<std::uintptr_t>(place) / sizeof(T) % kSector);
#pragma unroll
    for (int i = 0; i <= kTileN; i += 32) {
      const int column = first + i;
      if (column < 0 || column >= end_n) continue;
      T value = gemm.alpha * sums[row * kTileN + column];
      if (gemm.beta != T(0)) value += gemm.beta * place[column];
      place[column] = value;
    }
  }
}

template <class T, int kCount>
__device__ __forceinline__ Run<T, kCount> operator+(Run<T, kCount> sum, const Run<T, kCount>& other) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) sum.element[i] += other.element[i];
  return sum;
}

/// The sum over kSlices vectors, kStride apart, in their order.
template <int kSlices, int kStride, class Vector>
__device__ __forceinline__ Vector add_slices(const Vector* vectors) {
  Vector sum = vectors[0];
#pragma unroll
  for (int slice = 1; slice < kSlices; ++slice) sum = sum + vectors[slice * kStride];
  return sum;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ __forceinline__ int blocks_of_cluster() {
  int count;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  return count;
}

__device__ __forceinline__ int rank_in_cluster() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of all blocks of the cluster; what they wrote to shared memory before is seen after.
__device__ __forceinline__ void wait_for_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// 16 bytes at the same place of another block's shared memory.
__device__ __forceinline__ Run<float, 4> read_of_block(const Run<float, 4>* place, int block) {
  Run<float, 4> run;
  asm volatile(
      "{\n\t.reg .u32 there;\n\tmapa.shared::cluster.u32 there, %4, %5;\n\t"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n\t}"
      : "=f"(run.element[0]), "=f"(run.element[1]), "=f"(run.element[2]), "=f"(run.element[3])
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(place))), "r"(block)
      : "memory");
  return run;
}
__device__ __forceinline__ Run<double, 2> read_of_block(const Run<double, 2>* place, int block) {
  Run<double, 2> run;
  asm volatile(
      "{\n\t.reg .u32 there;\n\tmapa.shared::cluster.u32 there, %2, %3;\n\t"
      "ld.shared::cluster.v2.f64 {%0, %1}, [there];\n\t}"
      : "=d"(run.element[0]), "=d"(run.element[1])
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(place))), "r"(block)
      : "memory");
  return run;
}

#else  // no clusters

__device__ __forceinline__ int blocks_of_cluster() {
  return 1;
}
__device__ __forceinline__ int rank_in_cluster() {
  return 0;
}
__device__ __forceinline__ void wait_for_cluster() {}
template <class Vector>
__device__ __forceinline__ Vector read_of_block(const Vector* place, int) {
  return *place;
}

#endif

/// The sum over the vectors at the same place of all blocks of a cluster, in their order.
template <class Vector>
__device__ __forceinline__ Vector add_blocks(const Vector* place, int blocks) {
  Vector sum = read_of_block(place, 0);
  for (int block = 1; block < blocks; ++block) sum = sum + read_of_block(place, block);
  return sum;
}

}  // namespace tessera::cuda
