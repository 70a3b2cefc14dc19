// gemm, register: adds up what several groups along k have each computed of C.
//
//   parts, in the workspace                     a block  = up to 64 runs of four columns of up to 256 rows of C, by one
//   +-------+ +-------+     +-------+                      slice of threads or several
//   | m x n |+| m x n |+ ...|       |  -> C     a thread = one run: reads it from the parts of its slice, one after the
//   +-------+ +-------+     +-------+                      other; the first slice's adds up the slices' sums in their
//                                                          order and writes alpha times that plus beta times C
//
// Every part is read once, mostly from L2, where the kernel before has just written it; C is written once. Where there
// are many parts, C is small, and one thread for each of its runs would mostly wait: there slices give it many. The
// grid's y is at most 65,535 blocks, so both axes loop on.
#include "ops/gemm/gemm_register_store.cuh"

namespace tessera::cuda {

/// Four neighbours of one part from `place` on, as far as there are.
template <class T>
__device__ __forceinline__ void add_run(T* sum, const T* place, bool is_chunk, std::int64_t inside) {
  if (is_chunk) {
#pragma unroll
    for (int i = 0; i < 4; i += kChunk<T>) {
      const auto run = *reinterpret_cast<const Run<T, kChunk<T>>*>(place + i);
#pragma unroll
      for (int j = 0; j < kChunk<T>; ++j) sum[i + j] += run.element[j];
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i < inside) sum[i] += place[i];
    }
  }
}

template <class T>
__device__ __forceinline__ void gemm_add(const GemmAddArguments<T>& add) {
  const GemmRegisterArguments<T>& gemm = add.gemm;
  __shared__ Run<T, kChunk<T>> of_slices[4 / kChunk<T>][kGemmAddThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int of_slice = kGemmAddThreads / add.slices;
  const int slice = thread / of_slice;
  const int rows = of_slice / add.runs;  // of a block
  const int parts = (add.splits + add.slices - 1) / add.slices;
  const int first = slice * parts;
  const int end = min(first + parts, add.splits);
  const std::int64_t part = gemm.m * add.row;
  const bool aligned = add.row % 4 == 0;  // the workspace itself always is, and so every run is all there

  let_next_kernel_start();
  wait_for_kernel_before();
  for (std::int64_t row0 = static_cast<std::int64_t>(blockIdx.y) * rows; row0 < gemm.m;
       row0 += static_cast<std::int64_t>(gridDim.y) * rows) {
    for (std::int64_t run0 = static_cast<std::int64_t>(blockIdx.x) * add.runs; run0 * 4 < gemm.n;
         run0 += static_cast<std::int64_t>(gridDim.x) * add.runs) {
      const std::int64_t row = row0 + thread % of_slice / add.runs;
      const std::int64_t column = (run0 + thread % add.runs) * 4;
      T sum[4] = {};
      if (row < gemm.m && column < gemm.n) {
        const T* place =
            add.parts + (first * static_cast<std::int64_t>(add.batch) + blockIdx.z) * part + row * add.row + column;
#pragma unroll 8
        for (int i = first; i < end; ++i) {
          add_run(sum, place, aligned, gemm.n - column);
          place += add.batch * part;
        }
      }
      if (add.slices > 1) {
        __syncthreads();  // the sums of the block's place before have been read
#pragma unroll
        for (int i = 0; i < 4; ++i) of_slices[i / kChunk<T>][thread].element[i % kChunk<T>] = sum[i];
        __syncthreads();
        if (slice > 0) continue;
        for (int other = thread + of_slice; other < kGemmAddThreads; other += of_slice) {
#pragma unroll
          for (int i = 0; i < 4; ++i) sum[i] += of_slices[i / kChunk<T>][other].element[i % kChunk<T>];
        }
      }
      if (column < gemm.n) store_run(gemm, gemm.c + blockIdx.z * gemm.stride_c, row, column, sum);
    }
  }
}

}  // namespace tessera::cuda

#define TESSERA_GEMM_ADD(T, type)                                                                        \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kGemmAddThreads)                           \
      tessera_gemm_register_add_##type(const __grid_constant__ tessera::cuda::GemmAddArguments<T> add) { \
    tessera::cuda::gemm_add(add);                                                                        \
  }

TESSERA_GEMM_ADD(float, float32)
TESSERA_GEMM_ADD(double, float64)
