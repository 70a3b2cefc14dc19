// Fills memory with an 8-byte pattern, which the driver's own memset, of 1, 2 and 4 bytes, does not offer.
//
//   thread    0   1   2  ...  255 | 256 ...            block = 256 threads, one element each
//           +---+---+---+---+-----+---+---
//   memory  | p | p | p |   |  p  | p |  ...           then on by the whole grid's width
//           +---+---+---+---+-----+---+---
//
// Reads nothing and writes each byte once; a warp writes 256 bytes in a row, so every memory transaction is full. Not a
// path that anything waits for: not tuned.
#include "cuda_fill.h"

extern "C" __global__ void __launch_bounds__(tessera::cuda::kFillThreads)
    tessera_fill_64(const tessera::cuda::FillArguments arguments) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < arguments.count; i += stride) arguments.destination[i] = arguments.pattern;
}
