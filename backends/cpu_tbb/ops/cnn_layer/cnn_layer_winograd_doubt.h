// Which of Winograd's sums are in doubt, because pixels beside their own window outweigh it, and the direct sums that
// take their place. What doubt is: cnn_layer_winograd_limit() in mathematics/cnn_layer_winograd.h.
#pragma once

#include <cstdint>

#include "ops/cnn_layer/cnn_layer_planes.h"

namespace tessera::cpu_tbb {

/// Adds the magnitudes of one channel's pixels, as they lie in planes, to `sums`. Up to kPlanesSlack elements behind
/// the last are read and written too.
template <class T>
void winograd_add_magnitudes(const T* planes, std::int64_t count, T* sums);

/// Sums over all channels of |pixel|, in planes, and the block whose outputs they are to judge.
template <class T>
struct WinogradMagnitudes {
  const T* sums = nullptr;  ///< as winograd_add_magnitudes() leaves them
  PatchGrid grid;
  std::int64_t sum_rows = 0;  ///< of the block; tiles may reach further
  std::int64_t sum_columns = 0;
  double limit = 0;
};

/// Writes y * sum_columns + x of every sum in doubt to `places`, which has room for all, and returns how many they are.
/// `outputs` and `taps` as for winograd_input().
template <class T>
[[nodiscard]] std::int64_t winograd_find_doubts(const WinogradMagnitudes<T>& magnitudes, std::int64_t outputs,
                                                std::int64_t taps, std::int32_t* places);

/// Places whose direct sums are computed at once.
inline constexpr std::int64_t kDirectPlaces = 16;

/// For rows of weights, one for each output channel, times the pixels below the filter at kDirectPlaces places:
/// sums[row * sums_step + i] = sum over k of weights[row * depth + k] * pixels[k * kDirectPlaces + i].
template <class T>
struct DirectProduct {
  const T* weights = nullptr;
  const T* pixels = nullptr;  ///< aligned as ScratchPool's loans are
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  T* sums = nullptr;
  std::int64_t sums_step = 0;  ///< a multiple of kDirectPlaces
};
template <class T>
void multiply_directly(const DirectProduct<T>& product);

}  // namespace tessera::cpu_tbb
