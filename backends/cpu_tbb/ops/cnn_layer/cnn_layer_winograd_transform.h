// The transforms of Winograd's algorithm, in the best instruction set that the processor has. Vectors hold the same
// element of several tiles beside each other.
#pragma once

#include <cstdint>

#include "ops/cnn_layer/cnn_layer_planes.h"

namespace tessera::cpu_tbb {

/// One channel's patches, as they lie in planes, to products: element (a, b) of B^T d B for each tile, tiles counted
/// through without gaps, goes to products[(a * n + b) * matrix_step + tile].
template <class T>
struct WinogradInput {
  const T* planes = nullptr;
  PatchGrid grid;
  T* products = nullptr;
  std::int64_t matrix_step = 0;
  std::int64_t room = 0;  ///< elements that may be written behind products, at least the tiles
};

/// One channel's products back to sums: sum (i, j) of A^T m A for tile (y, x) goes to
/// sums[(y * outputs + i) * sums_step + x * outputs + j]. Behind a row, up to outputs vectors more are written.
template <class T>
struct WinogradOutput {
  const T* products = nullptr;  ///< may be read up to a vector behind the last tile
  std::int64_t matrix_step = 0;
  std::int64_t rows = 0;  ///< of tiles
  std::int64_t columns = 0;
  T* sums = nullptr;
  std::int64_t sums_step = 0;
};

/// `outputs` and `taps`: 4 and 5, 2 and 5, or 4 and 3.
template <class T>
void winograd_input(const WinogradInput<T>& input, std::int64_t outputs, std::int64_t taps);
template <class T>
void winograd_output(const WinogradOutput<T>& output, std::int64_t outputs, std::int64_t taps);

}  // namespace tessera::cpu_tbb
