// kernel_regression, exact_bytes: how stages of packed rows come into shared memory.
//
//   a stage               chunks of 16 bytes          The rows of a stage lie one after the other, first the queries'
//   query 0               c0 c1 c2 c3                 and then the training rows'. A row's chunks are exchanged so that
//   query 1               c0 c1 c2 c3                 the eight rows that one ldmatrix reads at a time lie in different
//   query 2               c1 c0 c3 c2                 banks: here of 4 chunks, where two rows fill all banks.
//   ...
#pragma once

#include "cuda_asynchronous_copy.cuh"
#include "ops/kernel_regression/kernel_regression_meeting.cuh"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"

namespace tessera::cuda {

inline constexpr int kChunkBytes = 16;
inline constexpr int kStepBytes = 32;  ///< of an instruction's products

/// What a group has in shared memory.
template <RegressionByteShape kShape>
struct RegressionBytesShared {
  static constexpr int kStageRows = kShape.queries + kShape.rows;
  alignas(128) unsigned char stages[kShape.stages][kStageRows * kShape.stage_bytes];
  alignas(16) int row_lengths[kShape.stages][kShape.rows];  ///< they come with a tile's last stage
  RegressionMet<std::uint8_t, kShape.queries, kShape.rows, kShape.threads(), kShape.keeps_tile> met;
};

/// Brings stages into shared memory: first the queries' part of a row, then the training rows'.
template <RegressionByteShape kShape>
class RegressionBytesFetch {
 public:
  using Shared = RegressionBytesShared<kShape>;
  static constexpr int kChunks = kShape.stage_bytes / kChunkBytes;
  static constexpr int kRowsAtOnce = kShape.threads() / kChunks;
  static_assert(kShape.queries % kRowsAtOnce == 0 && kShape.rows % kRowsAtOnce == 0 && kRowsAtOnce % 16 == 0);

  __device__ RegressionBytesFetch(Shared& shared, const std::uint8_t* queries, const std::uint8_t* rows,
                                  const int* row_lengths, std::int64_t depth)
      : shared_(shared),
        first_byte_(static_cast<int>(threadIdx.x) % kChunks * kChunkBytes),
        place_(place(static_cast<int>(threadIdx.x) / kChunks, static_cast<int>(threadIdx.x) % kChunks)),
        queries_(queries + threadIdx.x / kChunks * depth + first_byte_),
        rows_(rows + threadIdx.x / kChunks * depth + first_byte_),
        row_lengths_(row_lengths),
        depth_(depth) {}

  /// Starts the next stage, which goes to `slot`. Nothing where all have been started.
  __device__ __forceinline__ void start(int slot, std::int64_t tiles) {
    if (tile_ == tiles) return;
    unsigned char* const stage = shared_.stages[slot];
    if (at_ + kShape.stage_bytes >= depth_) start_lengths(slot);
    if (at_ + first_byte_ < depth_) {
      copy<kShape.queries>(stage + place_, queries_ + at_);
      copy<kShape.rows>(stage + kShape.queries * kShape.stage_bytes + place_, rows_ + at_);
    }
    at_ += kShape.stage_bytes;
    if (at_ < depth_) return;
    at_ = 0;
    rows_ += kShape.rows * depth_;
    ++tile_;
  }

  /// Where a chunk of a stage's row begins.
  [[nodiscard]] static __device__ __forceinline__ int place(int row, int chunk) {
    const int twist = kChunks == 8 ? row % 8 : row / 2 % kChunks;
    return row * kShape.stage_bytes + (chunk ^ twist) * kChunkBytes;
  }

 private:
  /// This thread's chunks of so many rows.
  template <int kRows>
  __device__ __forceinline__ void copy(unsigned char* target, const std::uint8_t* source) const {
    const std::int64_t step = kRowsAtOnce * depth_;
#pragma unroll
    for (int pass = 0; pass < kRows / kRowsAtOnce; ++pass, source += step) {
      move(target + pass * kRowsAtOnce * kShape.stage_bytes, source);
    }
  }
  __device__ __forceinline__ void start_lengths(int slot) const {
    constexpr int kLengths = kChunkBytes / static_cast<int>(sizeof(int));
    const int first = static_cast<int>(threadIdx.x) * kLengths;
    if (first < kShape.rows) move(shared_.row_lengths[slot] + first, row_lengths_ + tile_ * kShape.rows + first);
  }
  static __device__ __forceinline__ void move(void* target, const void* source) {
    if constexpr (kAsynchronousCopies) {
      copy_asynchronously<kChunkBytes>(target, source, kChunkBytes);
    } else {
      *static_cast<uint4*>(target) = *static_cast<const uint4*>(source);
    }
  }

  Shared& shared_;
  int first_byte_;  ///< of a stage's row that this thread copies
  int place_;
  const std::uint8_t* queries_;
  const std::uint8_t* rows_;
  const int* row_lengths_;
  std::int64_t depth_;
  std::int64_t tile_ = 0;  ///< of the stage that is started next
  std::int64_t at_ = 0;    ///< its first byte of a row
};

}  // namespace tessera::cuda
