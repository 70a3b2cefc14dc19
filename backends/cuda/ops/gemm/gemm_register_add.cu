// gemm, register: adds up what several groups along k have each computed of C, in their order.
//
//   parts, in the workspace                     a block  = 32 runs of four columns x 8 rows of C
//   +-------+ +-------+     +-------+           a thread = one run: reads it from every part, one after the other, and
//   | m x n |+| m x n |+ ...|       |  -> C                writes alpha times the sum plus beta times C
//   +-------+ +-------+     +-------+
//
// Every part is read once, mostly from L2, where the kernel before has just written it; C is written once. The grid's y
// is at most 65,535 blocks, so both axes loop on.
#include "ops/gemm/gemm_register_store.cuh"

namespace tessera::cuda {

template <class T>
__device__ __forceinline__ void gemm_add(const GemmAddArguments<T>& add) {
  const GemmRegisterArguments<T>& gemm = add.gemm;
  const std::int64_t part = gemm.m * gemm.n;
  const bool aligned = gemm.n % kChunk<T> == 0;  // the workspace itself always is
  let_next_kernel_start();
  wait_for_kernel_before();
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * kGemmAddRows + threadIdx.y; row < gemm.m;
       row += static_cast<std::int64_t>(gridDim.y) * kGemmAddRows) {
    for (std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * kGemmAddRuns + threadIdx.x) * 4;
         column < gemm.n; column += static_cast<std::int64_t>(gridDim.x) * kGemmAddRuns * 4) {
      const T* place = add.parts + blockIdx.z * part + row * gemm.n + column;
      T sum[4] = {};
#pragma unroll 4
      for (int split = 0; split < add.splits; ++split) {
        if (aligned && column + 4 <= gemm.n) {
#pragma unroll
          for (int i = 0; i < 4; i += kChunk<T>) {
            const auto run = *reinterpret_cast<const Run<T, kChunk<T>>*>(place + i);
#pragma unroll
            for (int j = 0; j < kChunk<T>; ++j) sum[i + j] += run.element[j];
          }
        } else {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            if (column + i < gemm.n) sum[i] += place[i];
          }
        }
        place += add.batch * part;
      }
      store_run(gemm, gemm.c + blockIdx.z * gemm.stride_c, row, column, sum);
    }
  }
}

}  // namespace tessera::cuda

#define TESSERA_GEMM_ADD(T, type)                                                                        \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kGemmAddRuns* tessera::cuda::kGemmAddRows) \
      tessera_gemm_register_add_##type(const __grid_constant__ tessera::cuda::GemmAddArguments<T> add) { \
    tessera::cuda::gemm_add(add);                                                                        \
  }

TESSERA_GEMM_ADD(float, float32)
TESSERA_GEMM_ADD(double, float64)
