// How gemm's register variant brings tiles of A and B from device memory into shared memory, a stage of `depth` steps
// along k at a time. An operand's stage has one of three layouts:
//
//   across                          along                             turned
//   k lies across the stored rows   k lies along the stored rows      k lies along the stored rows
//   +--------------------------+    +------+------+------+------+     like across: each 16 bytes are copied as they
//   | l = 0   0 1 2 ... extent |    | 0: l = 0..3 |  4..7 | ... |     are to a place of their own, and the thread that
//   | l = 1                    |    | 1:    4..7  |  0..3 | ... |     copied them then turns them into the stage
//   | ... depth                |    | ... extent  |       |     |
//   +--------------------------+    +------+------+------+------+
//
// In `across` the threads that multiply read runs of neighbouring rows (columns) of C, in `along` runs of steps.
// `along` costs nothing to fill, but leaves the elements of one step in registers of one bank, which makes fused
// multiply-adds of float32 slower: on an H200 the same loop reached 46 TF/s along and 51 turned at n = 4096. Turning
// takes time at the beginning that short sums do not win back, so small tiles and float64 stay along.
//
// Copies take 16 bytes where every address allows it (kVector > 1) and single elements where not: neighbours by
// neighbouring threads, unless they are to be turned. From sm_80 on copies are asynchronous and pass no register
// (cp.async); on sm_75 the elements wait in registers while the stage before is multiplied.
//
// Beyond the operand's edge along m or n nothing need be fetched: what stands in the stage there enters rows or columns
// of C that are not stored. Beyond the end of k both operands are filled with 0, so that nothing is added, not even 0
// times infinity. k's remainder is fetched first, so that the loop over the other stages asks for no end.
#pragma once

#include <cstdint>

#include "cuda_asynchronous_copy.cuh"
#include "ops/gemm/gemm_register_shapes.h"

namespace tessera::cuda {

/// Neighbouring elements that one instruction moves.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Run {
  T element[kCount];
};

/// Elements in 16 bytes.
template <class T>
inline constexpr int kChunk = 16 / static_cast<int>(sizeof(T));

/// Where the elements of a stage stand. With x a row or column of C and l a step, at
///   across: l * kRow + (x ^ twist(l))
///   along:  x * kRow + (l ^ kChunk * twist(x)), kTwistRows neighbours share a twist
///   turned: l * kRow + (x ^ twist(l))
/// The twist (by exclusive or, so that it can be taken apart by bits) sends what is read or written at the same time to
/// different banks.
template <class T_, int kExtent_, int kDepth_, GemmLayout kLayout_, int kTwistRows>
struct Stage {
  using T = T_;
  static constexpr int kExtent = kExtent_, kDepth = kDepth_;
  static constexpr GemmLayout kLayout = kLayout_;
  static constexpr bool kIsAlong = kLayout == GemmLayout::along, kIsTurned = kLayout == GemmLayout::turned;
  static constexpr int kRow = kIsAlong ? kDepth : kExtent;
  static constexpr int kSize = kExtent * kDepth;

  static __host__ __device__ constexpr int twist(int x_or_l) {
    constexpr int kChunks = kDepth / kChunk<T>;  // of a row along
    if constexpr (kIsAlong && sizeof(T) == 8) return x_or_l % 2 * 2 + x_or_l / 4 % 2 * 4;
    if constexpr (kIsAlong) return x_or_l / kTwistRows % (kChunks < 8 ? kChunks : 8);
    const int chunk = x_or_l / kChunk<T>;
    if constexpr (sizeof(T) == 8) return x_or_l % 4 * 4;
    if constexpr (!kIsTurned) return 0;
    return chunk % 2 * 16 + (kChunks > 2 ? chunk / 2 % 2 * 8 : 0) + (kChunks > 4 ? chunk / 4 % 2 * 4 : 0);
  }
};

/// One thread's part in fetching the stages of one operand, one after the other along k.
template <class Stage, int kThreads, int kVector>
class Fetcher {
 public:
  using T = typename Stage::T;

 private:
  // kRunsOfRow threads fetch a stored row (a part of one), kPieces runs each; all threads fetch kRows rows at once.
  static constexpr bool kAlongK = Stage::kLayout != GemmLayout::across;
  // A run that is turned is that of one thread, whatever it is copied in.
  static constexpr int kRun = Stage::kIsTurned ? kChunk<T> : kVector;
  static constexpr int kLength = kAlongK ? Stage::kDepth : Stage::kExtent;
  static constexpr int kRunsOfRow = kLength / kRun < kThreads ? kLength / kRun : kThreads;
  static constexpr int kPieces = kLength / kRun / kRunsOfRow;
  static constexpr int kRows = kThreads / kRunsOfRow;
  static constexpr int kAllRows = kAlongK ? Stage::kExtent : Stage::kDepth;
  static constexpr bool kSpareThreads = kAllRows % kRows != 0;
  static_assert(kLength % (kRunsOfRow * kRun) == 0 && kThreads % kRunsOfRow == 0);

 public:
  static constexpr int kPasses = (kAllRows + kRows - 1) / kRows;

  /// The tile begins at `first` of the operand's `limit` rows or columns of C, and at k_begin.
  __device__ Fetcher(const T* matrix, std::int64_t leading, std::int64_t first, std::int64_t limit,
                     std::int64_t k_begin)
      : row_(static_cast<int>(threadIdx.x) / kRunsOfRow), column_(static_cast<int>(threadIdx.x) % kRunsOfRow * kRun) {
    const std::int64_t left = limit - first;
    const int remaining = left < Stage::kExtent ? static_cast<int>(left) : Stage::kExtent;
    step_ = leading * kRows;
    if constexpr (kAlongK) {
      source_ = matrix + (first + row_) * leading + k_begin + column_;
      to_next_step_ = 1;
      remaining_[0] = remaining;
    } else {
      source_ = matrix + (k_begin + row_) * leading + first + column_;
      to_next_step_ = leading;
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) remaining_[piece] = remaining - column_ - piece * kThreads * kRun;
    }
  }

  /// Starts fetching the first `steps` (at most the depth) steps along k, and zeros behind them.
  __device__ __forceinline__ void start_remainder(T* target, int steps) {
    fetch<true>(target, steps);
    source_ += steps * to_next_step_;
  }
  /// Starts fetching the next steps, as many as a stage is deep.
  __device__ __forceinline__ void start(T* target) {
    fetch<false>(target, Stage::kDepth);
    source_ += Stage::kDepth * to_next_step_;
  }
  /// Turns what this thread fetched in one of its passes and has arrived.
  __device__ __forceinline__ void turn(int pass, const T* from, T* stage) const {
    if (is_spare(pass)) return;
    write_turned(pass, *reinterpret_cast<const Run<T, kRun>*>(from + place(pass, 0)), stage);
  }
  /// Without asynchronous copies: writes what the last call fetched.
  __device__ __forceinline__ void deliver(T* stage) const {
    if constexpr (!kAsynchronousCopies) {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (is_spare(pass)) continue;
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) {
          const Run<T, kRun>& run = held_[pass * kPieces + piece];
          if constexpr (Stage::kIsTurned) {
            write_turned(pass, run, stage);
          } else {
            *reinterpret_cast<Run<T, kRun>*>(stage + place(pass, piece)) = run;
          }
        }
      }
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ bool is_spare(int pass) const {
    return kSpareThreads && row_ + pass * kRows >= kAllRows;
  }

  /// Where a run that is copied begins: in the stage, or, if it is to be turned, in what lies beside it.
  [[nodiscard]] __device__ __forceinline__ int place(int pass, int piece) const {
    if constexpr (Stage::kIsTurned) return (static_cast<int>(threadIdx.x) + pass * kThreads) * kRun;
    // kRows is a power of two, so that the twist of a sum of rows is that of each, one after the other
    if constexpr (Stage::kIsAlong) {
      constexpr int kUnit = kChunk<T>;
      const int first = row_ * Stage::kRow + (column_ ^ Stage::twist(row_) * kUnit);
      return (first ^ Stage::twist(pass * kRows) * kUnit) + pass * kRows * Stage::kRow;
    }
    const int row = row_ + pass * kRows;
    return row * Stage::kRow + (column_ ^ Stage::twist(row)) + piece * kThreads * kRun;
  }

  __device__ __forceinline__ void write_turned(int pass, const Run<T, kRun>& run, T* stage) const {
    T* const to = stage + column_ * Stage::kRow + ((row_ + pass * kRows) ^ Stage::twist(column_));
#pragma unroll
    for (int i = 0; i < kRun; ++i) to[i * Stage::kRow] = run.element[i];
  }

  template <bool kRemainder>
  __device__ __forceinline__ void fetch(T* target, int steps) {
    const T* source = source_;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) {
        int inside = kAlongK ? (row_ + pass * kRows < remaining_[0] ? kRun : 0) : remaining_[piece];
        if constexpr (kRemainder && kAlongK) inside = inside < steps - column_ ? inside : steps - column_;
        if constexpr (kRemainder && !kAlongK) inside = row_ + pass * kRows < steps ? inside : 0;
        if (is_spare(pass)) continue;
        move_run(pass * kPieces + piece, target + place(pass, piece), source + piece * kThreads * kRun, inside);
      }
      source += step_;
    }
  }

  /// Moves the first `inside` elements of a run, and zeros behind them.
  __device__ __forceinline__ void move_run(int index, T* target, const T* source, int inside) {
    if constexpr (kAsynchronousCopies) {
#pragma unroll
      for (int i = 0; i < kRun; i += kVector) {
        int elements = inside - i;
        elements = elements < 0 ? 0 : elements > kVector ? kVector : elements;
        copy_asynchronously<sizeof(T) * kVector>(target + i, source + i, elements * static_cast<int>(sizeof(T)));
      }
    } else {
      Run<T, kRun>& held = held_[index];
      if (kVector == kRun && inside >= kRun) {
        held = *reinterpret_cast<const Run<T, kRun>*>(source);
      } else {
#pragma unroll
        for (int i = 0; i < kRun; ++i) held.element[i] = i < inside ? source[i] : T(0);
      }
    }
  }

  const T* source_;
  std::int64_t step_;
  std::int64_t to_next_step_;
  int row_;
  int column_;
  int remaining_[kPieces];
  Run<T, kRun> held_[kAsynchronousCopies ? 1 : kPasses * kPieces];
};

}  // namespace tessera::cuda
