// kernel_regression, exact_bytes_tensor: NVIDIA's instructions, for 32 work-items together (a warp): products of bytes by
// the tensor cores, and what they read. Options: those of nvidia_warp.cl.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DSTAGES=4
#include "ops/nvidia_bytes.cl"

// Four matrices of 8 rows x 16 bytes. Lane i brings where row i % 8 of matrix i / 8 lies in local memory.
ALWAYS_INLINE void load_matrices(uint words[4], const uint at) {
  uint w0, w1, w2, w3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(w0), "=r"(w1), "=r"(w2), "=r"(w3)
               : "r"(at)
               : "memory");
  words[0] = w0;
  words[1] = w1;
  words[2] = w2;
  words[3] = w3;
}
