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

/// Elements that memory moves at once: 32 bytes.
template <class T>
inline constexpr int kShallowSector = 32 / static_cast<int>(sizeof(T));

/// A thread computes `rows` elements of each of `runs` columns; `across` threads of a group stand side by side in a row
/// of the tile, and the others below them.
struct GemmShallowShape {
  int rows;
  int runs;
  int across;
  int threads;

  /// Threads that stand below each other: a thread's rows are that far apart.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int down() const { return threads / across; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int tile_m() const { return down() * rows; }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int tile_n() const { return across * runs; }
  /// May its tiles begin where a sector does? Only where all rows of a thread begin alike, as rows eight apart do, and
  /// all threads of a warp are in one row.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr bool may_shift() const { return across == 32; }
};

/// For wide products, for narrow ones, and for small ones of which there are many; the smallest tile first.
/// gemm_shallow_choice.cpp chooses among them.
inline constexpr GemmShallowShape kGemmShallowShapes[]{{2, 1, 32, 256}, {1, 4, 32, 256}, {2, 4, 32, 256},
                                                       {8, 1, 32, 256}, {8, 4, 32, 256}, {2, 1, 8, 256},
                                                       {8, 1, 8, 256},  {4, 1, 8, 64},   {4, 1, 16, 64}};

}  // namespace tessera::cuda
