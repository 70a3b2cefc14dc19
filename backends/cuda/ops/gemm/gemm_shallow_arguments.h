// What the kernels of gemm's shallow variant take, by value, and the shapes that they are compiled for; read by host
// and device.
#pragma once

#include <cstdint>

#include "cuda_host_device.h"
#include "ops/gemm/gemm_arguments.h"

namespace tessera::cuda {

template <class T>
struct GemmShallowArguments {
  GemmArguments<T> gemm;
  unsigned tiles_n;  ///< in a row of tiles; the grid's x counts them row by row
  bool shifts;       ///< tiles begin where a sector of memory does, up to a sector before the row's first element
};

/// The longest sums that the variant takes.
inline constexpr std::int64_t kShallowMost = 64;
/// Steps of k in shared memory at once.
inline constexpr int kShallowDepth = 16;
inline constexpr int kShallowWarps = 8;
inline constexpr int kShallowThreads = 32 * kShallowWarps;

/// Elements that memory moves at once: 32 bytes.
template <class T>
inline constexpr int kShallowSector = 32 / static_cast<int>(sizeof(T));

/// A thread computes `rows` elements of each of `runs` columns.
struct GemmShallowShape {
  int rows;
  int runs;

  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int tile_m() const { return kShallowWarps * rows; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int tile_n() const { return 32 * runs; }
};

/// The smallest tile first. gemm_shallow_choice.cpp chooses among them.
inline constexpr GemmShallowShape kGemmShallowShapes[]{{2, 1}, {2, 4}, {8, 1}, {8, 4}};

}  // namespace tessera::cuda
