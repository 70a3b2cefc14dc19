// How gemm's register variant passes over k: stages of both operands go round in shared memory, and while one of them
// is multiplied the next ones arrive. What a tile computes with a stage is its own business (gemm_register_fma.cuh,
// gemm_register_mma.cuh).
#pragma once

#include "ops/gemm/gemm_register_fetch.cuh"

namespace tessera::cuda {

/// The stages of one operand in shared memory, as a ring.
template <class Stage, int kThreads, int kVector, int kStages>
class Operand {
 public:
  using T = typename Stage::T;
  static constexpr bool kTurns = Stage::kIsTurned && kAsynchronousCopies;
  static constexpr int kSize = (kStages + (kTurns ? 2 : 0)) * Stage::kSize;  ///< elements of shared memory
  static constexpr int kParts = kTurns ? Fetcher<Stage, kThreads, kVector>::kPasses : 0;

  /// `vector`: elements of a copy, where kVector is kAnyVector.
  __device__ Operand(T* shared, const T* matrix, std::int64_t leading, std::int64_t first, std::int64_t limit,
                     std::int64_t k_begin, int vector = kVector)
      : shared_(shared), fetcher_(matrix, leading, first, limit, k_begin, vector) {}

  __device__ __forceinline__ void start_remainder(int steps) { fetcher_.start_remainder(shared_, steps); }
  __device__ __forceinline__ void start(int slot) { fetcher_.start(shared_ + slot * Stage::kSize); }
  __device__ __forceinline__ void deliver(int slot) const { fetcher_.deliver(shared_ + slot * Stage::kSize); }
  /// Turns one of kParts parts of what has arrived in a slot.
  __device__ __forceinline__ void turn(int part, int slot, int parity) const {
    if constexpr (kTurns) fetcher_.turn(part, shared_ + slot * Stage::kSize, turned(parity));
  }
  /// What was fetched into a slot, to be multiplied. Turned stages take turns between two places.
  [[nodiscard]] __device__ __forceinline__ const T* stage(int slot, int parity) const {
    return kTurns ? turned(parity) : shared_ + slot * Stage::kSize;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ T* turned(int parity) const {
    return shared_ + (kStages + parity) * Stage::kSize;
  }

  T* shared_;
  Fetcher<Stage, kThreads, kVector> fetcher_;
};

/// Multiplies all stages of k. `count` is at least 1; the first stage holds `remainder` steps.
template <int kStages, int kSteps, class Tile, class OperandA, class OperandB>
__device__ __forceinline__ void multiply_stages(Tile& tile, OperandA& a, OperandB& b, int count, int remainder) {
  static_assert(!Tile::kLoadsAhead || kSteps / Tile::kSteps % 2 == 0,
                "two places take turns, and a stage begins with the first");
  constexpr int kParts = OperandA::kParts + OperandB::kParts;
  const auto turn = [&](int part, int slot, int parity) {
    if (part < OperandA::kParts) {
      a.turn(part, slot, parity);
    } else {
      b.turn(part - OperandA::kParts, slot, parity);
    }
  };

  a.start_remainder(remainder);
  b.start_remainder(remainder);
  close_group();
  a.deliver(0);
  b.deliver(0);
#pragma unroll
  for (int slot = 1; slot < kStages - 1; ++slot) {
    if (slot < count) {
      a.start(slot);
      b.start(slot);
    }
    close_group();
  }
  wait_for_groups<kStages - 2>();
#pragma unroll
  for (int part = 0; part < kParts; ++part) turn(part, 0, 0);
  __syncthreads();

  int read = 0;
  int write = kStages - 1;
  int parity = 0;
  const auto* a_stage = a.stage(0, 0);
  const auto* b_stage = b.stage(0, 0);
  tile.load(a_stage, b_stage, 0);
#pragma unroll 1
  for (int left = count; left > 0; --left) {
    const int read_next = read + 1 == kStages ? 0 : read + 1;
#pragma unroll
    for (int l = 0; l < kSteps; l += Tile::kSteps) {
      const int next = l + Tile::kSteps;
      if (l == 0) {
        if (left >= kStages) {
          a.start(write);
          b.start(write);
        }
        close_group();
        if constexpr (kParts > 0) wait_for_groups<kStages - 2>();
      }
      if constexpr (!Tile::kLoadsAhead) tile.multiply(l);
      if (next < kSteps) tile.load(a_stage, b_stage, next);
        // The stage that follows is turned by and by, before the last step.
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        if (l == part * (kSteps - 1) / (kParts > 0 ? kParts : 1)) turn(part, read_next, parity ^ 1);
      }
      if (next == kSteps) {
        if (!kAsynchronousCopies && left >= kStages) {
          a.deliver(write);
          b.deliver(write);
        }
        if constexpr (kParts == 0) wait_for_groups<kStages - 2>();
        __syncthreads();
        write = read;
        read = read_next;
        parity ^= 1;
        a_stage = a.stage(read, parity);
        b_stage = b.stage(read, parity);
        tile.load(a_stage, b_stage, 0);
      }
      if constexpr (Tile::kLoadsAhead) tile.multiply(l);
    }
  }
}

}  // namespace tessera::cuda
