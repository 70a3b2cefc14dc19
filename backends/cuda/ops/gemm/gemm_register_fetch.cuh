// How gemm's register variant brings tiles of A and B from device memory into shared memory, a stage of `depth` steps
// along k at a time. An operand's stage has one of these layouts:
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
// A fourth one, `scattered`, stands like `turned`, but without turning: each element is copied to its place by itself.
// It is for tiles of short sums whose rows begin at no multiple of 16 bytes, so that single elements are copied anyway:
// batches of 38 x 158 x 51 with B transposed took 31 us with 32 x 128 where `along` took 35 (H200, no file has it).
//
// Copies take 16 bytes where every address allows it, 8 where every address allows that, and single elements where not:
// neighbours by neighbouring threads, unless they are to be turned. How many bytes is known when the kernel is compiled
// or, with kVector = kAnyVector, when it starts. From sm_80 on copies are asynchronous and pass no register (cp.async);
// on sm_75 the elements wait in registers while the stage before is multiplied.
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
///   turned, scattered: l * kRow + (x ^ twist(l))
/// The twist (by exclusive or, so that it can be taken apart by bits) sends what is read or written at the same time to
/// different banks.
template <class T_, int kExtent_, int kDepth_, GemmLayout kLayout_, int kTwistRows>
struct Stage {
  using T = T_;
  static constexpr int kExtent = kExtent_, kDepth = kDepth_;
  static constexpr GemmLayout kLayout = kLayout_;
  static constexpr bool kIsAlong = kLayout == GemmLayout::along, kIsTurned = kLayout == GemmLayout::turned;
  static constexpr bool kIsScattered = kLayout == GemmLayout::scattered;
  static_assert(!kIsScattered || sizeof(T) == 4, "a twist for elements of four bytes");
  static_assert(!(kIsTurned || kIsScattered) || kExtent % 32 == 0, "a twist stays within 32 neighbours");
  static constexpr int kRow = kIsAlong ? kDepth : kExtent;
  static constexpr int kSize = kExtent * kDepth;

  static __host__ __device__ constexpr int twist(int x_or_l) {
    constexpr int kChunks = kDepth / kChunk<T>;  // of a row along
    if constexpr (kIsAlong && sizeof(T) == 8) return x_or_l % 2 * 2 + x_or_l / 4 % 2 * 4;
    if constexpr (kIsAlong) return x_or_l / kTwistRows % (kChunks < 8 ? kChunks : 8);
    const int chunk = x_or_l / kChunk<T>;
    if constexpr (sizeof(T) == 8) return x_or_l % 4 * 4;
    if constexpr (kIsScattered) return x_or_l % 8 * 4;
    if constexpr (!kIsTurned) return 0;
    return chunk % 2 * 16 + (kChunks > 2 ? chunk / 2 % 2 * 8 : 0) + (kChunks > 4 ? chunk / 4 % 2 * 4 : 0);
  }
};

/// How threads share the fetching of a stage in copies of kVector elements: kRunsOfRow threads fetch a stored row (a
/// part of one), kPieces runs each; all threads fetch kRows rows at once, and all of the stage in kPasses.
template <class Stage, int kThreads, int kVector>
struct FetchShare {
  static constexpr bool kAlongK = Stage::kLayout != GemmLayout::across;
  static constexpr int kCopied = kVector;
  // A run that is turned is that of one thread, whatever it is copied in.
  static constexpr int kRun = Stage::kIsTurned ? kChunk<typename Stage::T> : kVector;
  static constexpr int kLength = kAlongK ? Stage::kDepth : Stage::kExtent;
  static constexpr int kRunsOfRow = kLength / kRun < kThreads ? kLength / kRun : kThreads;
  static constexpr int kPieces = kLength / kRun / kRunsOfRow;
  static constexpr int kRows = kThreads / kRunsOfRow;
  static constexpr int kAllRows = kAlongK ? Stage::kExtent : Stage::kDepth;
  static constexpr int kPasses = (kAllRows + kRows - 1) / kRows;
  static constexpr bool kSpareThreads = kAllRows % kRows != 0;
  static_assert(kLength % (kRunsOfRow * kRun) == 0 && kThreads % kRunsOfRow == 0);
};

/// Elements of a copy that are known when the kernel starts.
inline constexpr int kAnyVector = 0;

/// One thread's part in fetching the stages of one operand, one after the other along k.
template <class Stage, int kThreads, int kVector>
class Fetcher {
 public:
  using T = typename Stage::T;

 private:
  template <int kElements>
  using Share = FetchShare<Stage, kThreads, kElements>;
  static constexpr int kWidest = kVector == kAnyVector ? kChunk<T> : kVector;
  static constexpr bool kAlongK = Share<kWidest>::kAlongK;
  static constexpr int kKnownPieces = kVector == kAnyVector ? 1 : Share<kWidest>::kPieces;
  static_assert(kVector != kAnyVector || kAsynchronousCopies, "what waits in registers has a compiled length");

 public:
  /// Of a stage that is turned, whose runs do not depend on what they are copied in.
  static constexpr int kPasses = Share<kWidest>::kPasses;

  /// The tile begins at `first` of the operand's `limit` rows or columns of C, and at k_begin. `vector`: elements of a
  /// copy, if that is not compiled: as many as 16 bytes have, 2 or 1.
  __device__ Fetcher(const T* matrix, std::int64_t leading, std::int64_t first, std::int64_t limit,
                     std::int64_t k_begin, int vector)
      : vector_(vector) {
    with_vector([&](auto share) {
      using Its = decltype(share);
      row_ = static_cast<int>(threadIdx.x) / Its::kRunsOfRow;
      column_ = static_cast<int>(threadIdx.x) % Its::kRunsOfRow * Its::kRun;
      step_ = leading * Its::kRows;
    });
    const std::int64_t left = limit - first;
    const int remaining = left < Stage::kExtent ? static_cast<int>(left) : Stage::kExtent;
    if constexpr (kAlongK) {
      source_ = matrix + (first + row_) * leading + k_begin + column_;
      to_next_step_ = 1;
      remaining_[0] = remaining;
    } else {
      source_ = matrix + (k_begin + row_) * leading + first + column_;
      to_next_step_ = leading;
#pragma unroll
      for (int piece = 0; piece < kKnownPieces; ++piece) {
        remaining_[piece] = remaining - column_ - piece * kThreads * Share<kWidest>::kRun;
      }
    }
  }

  /// Starts fetching the first `steps` (at most the depth) steps along k, and zeros behind them.
  __device__ __forceinline__ void start_remainder(T* target, int steps) {
    with_vector([&](auto share) { fetch<decltype(share), true>(target, steps); });
    source_ += steps * to_next_step_;
  }
  /// Starts fetching the next steps, as many as a stage is deep.
  __device__ __forceinline__ void start(T* target) {
    with_vector([&](auto share) { fetch<decltype(share), false>(target, Stage::kDepth); });
    source_ += Stage::kDepth * to_next_step_;
  }
  /// Turns what this thread fetched in one of its passes and has arrived.
  __device__ __forceinline__ void turn(int pass, const T* from, T* stage) const {
    using Its = Share<kWidest>;
    if (is_spare<Its>(pass)) return;
    write_turned(pass, *reinterpret_cast<const Run<T, Its::kRun>*>(from + place<Its>(pass, 0)), stage);
  }
  /// Without asynchronous copies: writes what the last call fetched.
  __device__ __forceinline__ void deliver(T* stage) const {
    if constexpr (!kAsynchronousCopies) {
      using Its = Share<kWidest>;
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (is_spare<Its>(pass)) continue;
#pragma unroll
        for (int piece = 0; piece < Its::kPieces; ++piece) {
          const auto& run = held_[pass * Its::kPieces + piece];
          if constexpr (Stage::kIsTurned) {
            write_turned(pass, run, stage);
          } else {
            *reinterpret_cast<Run<T, Its::kRun>*>(stage + place<Its>(pass, piece)) = run;
          }
        }
      }
    }
  }

 private:
  /// Calls `act` with the share of what a copy takes.
  template <class Act>
  __device__ __forceinline__ void with_vector(Act act) const {
    if constexpr (kVector != kAnyVector) {
      act(Share<kVector>());
    } else if (vector_ == kChunk<T>) {
      act(Share<kChunk<T>>());
    } else if (sizeof(T) == 4 && vector_ == 2) {
      act(Share<2>());
    } else {
      act(Share<1>());
    }
  }

  template <class Its>
  [[nodiscard]] __device__ __forceinline__ bool is_spare(int pass) const {
    return Its::kSpareThreads && row_ + pass * Its::kRows >= Its::kAllRows;
  }

  /// Where a run that is copied begins: in the stage, or, if it is to be turned, in what lies beside it.
  template <class Its>
  [[nodiscard]] __device__ __forceinline__ int place(int pass, int piece) const {
    if constexpr (Stage::kIsTurned) return (static_cast<int>(threadIdx.x) + pass * kThreads) * Its::kRun;
    // kRows is a power of two, so that the twist of a sum of rows is that of each, one after the other
    if constexpr (Stage::kIsAlong) {
      constexpr int kUnit = kChunk<T>;
      const int first = row_ * Stage::kRow + (column_ ^ Stage::twist(row_) * kUnit);
      return (first ^ Stage::twist(pass * Its::kRows) * kUnit) + pass * Its::kRows * Stage::kRow;
    }
    const int row = row_ + pass * Its::kRows;
    if constexpr (Stage::kIsScattered) return column_ * Stage::kRow + (row ^ Stage::twist(column_));
    return row * Stage::kRow + (column_ ^ Stage::twist(row)) + piece * kThreads * Its::kRun;
  }

  template <class TurnedRun>
  __device__ __forceinline__ void write_turned(int pass, const TurnedRun& run, T* stage) const {
    T* const to = stage + column_ * Stage::kRow + ((row_ + pass * Share<kWidest>::kRows) ^ Stage::twist(column_));
#pragma unroll
    for (int i = 0; i < Share<kWidest>::kRun; ++i) to[i * Stage::kRow] = run.element[i];
  }

  template <class Its, bool kRemainder>
  __device__ __forceinline__ void fetch(T* target, int steps) {
    const T* source = source_;
#pragma unroll
    for (int pass = 0; pass < Its::kPasses; ++pass) {
#pragma unroll
      for (int piece = 0; piece < Its::kPieces; ++piece) {
        const int before = piece * kThreads * Its::kRun;
        int inside = kAlongK ? (row_ + pass * Its::kRows < remaining_[0] ? Its::kRun : 0)
                             : (kVector == kAnyVector ? remaining_[0] - before : remaining_[piece]);
        if constexpr (kRemainder && kAlongK) inside = inside < steps - column_ ? inside : steps - column_;
        if constexpr (kRemainder && !kAlongK) inside = row_ + pass * Its::kRows < steps ? inside : 0;
        if (is_spare<Its>(pass)) continue;
        move_run<Its>(pass * Its::kPieces + piece, target + place<Its>(pass, piece), source + before, inside);
      }
      source += step_;
    }
  }

  /// Moves the first `inside` elements of a run, and zeros behind them.
  template <class Its>
  __device__ __forceinline__ void move_run(int index, T* target, const T* source, int inside) {
    if constexpr (kAsynchronousCopies) {
#pragma unroll
      for (int i = 0; i < Its::kRun; i += Its::kCopied) {
        int elements = inside - i;
        elements = elements < 0 ? 0 : elements > Its::kCopied ? Its::kCopied : elements;
        copy_asynchronously<sizeof(T) * Its::kCopied>(target + i, source + i, elements * static_cast<int>(sizeof(T)));
      }
    } else {
      auto& held = held_[index];
      if (Its::kCopied == Its::kRun && inside >= Its::kRun) {
        held = *reinterpret_cast<const Run<T, Its::kRun>*>(source);
      } else {
#pragma unroll
        for (int i = 0; i < Its::kRun; ++i) held.element[i] = i < inside ? source[i] : T(0);
      }
    }
  }

  const T* source_;
  std::int64_t step_;
  std::int64_t to_next_step_;
  int row_;
  int column_;
  int remaining_[kKnownPieces];  ///< of the tile's rows or columns of C: all, or those from each piece on
  int vector_;
  Run<T, Share<kWidest>::kRun> held_[kAsynchronousCopies ? 1 : kPasses * Share<kWidest>::kPieces];
};

}  // namespace tessera::cuda
