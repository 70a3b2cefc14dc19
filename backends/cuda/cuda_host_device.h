// How a constexpr function says that host and device code call it: nvcc lets device code call it only if it is declared
// for both.
#pragma once

#ifdef __CUDACC__
#define TESSERA_CUDA_HOST_DEVICE __host__ __device__
#else
#define TESSERA_CUDA_HOST_DEVICE
#endif
