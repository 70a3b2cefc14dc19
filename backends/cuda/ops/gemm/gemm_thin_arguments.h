// What the kernels of gemm's thin variant take, by value, and the shapes that they are compiled for; read by host and
// device.
#pragma once

#include <cstdint>

#include "cuda_host_device.h"

namespace tessera::cuda {

/// A product whose C has few rows or few columns: `few` sums for each of `many` rows or columns of the large operand.
/// k is 0 where operands are not to be read, beta is 0 where C is not to be read.
template <class T>
struct GemmThinArguments {
  const T* large;
  const T* small;
  T* c;
  std::int64_t many;
  std::int64_t few;
  std::int64_t k;
  std::int64_t large_step;  ///< from one stored row of the large operand to the next
  std::int64_t small_few_step;
  std::int64_t small_k_step;
  std::int64_t c_many_step;
  std::int64_t c_few_step;
  std::int64_t stride_large;
  std::int64_t stride_small;
  std::int64_t stride_c;
  std::int64_t split_k;       ///< steps along k of one group
  std::int64_t split_stride;  ///< from one group's C to that of the next along k, where each has its own
  T alpha;
  T beta;
};

/// The most rows or columns that count as few.
inline constexpr int kThinMost = 16;
inline constexpr int kThinThreads = 256;

/// How a group works: `lanes` neighbouring threads read neighbouring chunks of 16 bytes of a stored row. Where sums run
/// along rows, they share `rows` of them, else each has columns of its own, and threads with other steps of k.
struct GemmThinShape {
  bool along = false;
  int few = 1;  ///< sums of each row or column: the power of two from what the problem has on
  int lanes = 32;
  int chunk = 4;  ///< elements of 16 bytes

  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int rows() const {
    return along ? (few * chunk > 16 && chunk == 2 ? 2 : 4) : 1;
  }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int slots() const { return kThinThreads / lanes; }
  /// Of the large operand's rows or columns, in a group.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int tile() const { return along ? slots() * rows() : lanes * chunk; }
  /// Loads of 16 bytes of a step, of a thread: 8, or 4 where sums take many of its 128 registers.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int loads_at_once() const {
    const int registers = along ? few * rows() * 4 / chunk : few * 4;
    return registers <= (along ? 8 : 16) ? 8 : 4;
  }
  /// Those one after the other along k: as many as keep the small operand's part within 16 KiB.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int loads() const {
    if (!along) return loads_at_once();
    constexpr int kSmallBytes = 16 * 1024;
    int count = loads_at_once() / rows();
    while (count > 1 && lanes * chunk * count * few * (16 / chunk) > kSmallBytes) count /= 2;
    return count;
  }
  /// Of the small operand, those of a step that a thread brings to shared memory.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int small_size() const { return few * depth(); }
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int small_of_thread() const {
    return (small_size() + kThinThreads - 1) / kThinThreads;
  }
  /// Steps of k that a group takes at once.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int depth() const {
    return along ? lanes * chunk * loads() : slots() * loads();
  }
};

}  // namespace tessera::cuda
