// Prepares an operand of gemm's variants split and scaled_half: rows are scaled by powers of two and rounded to fp16.
//
//   a block: 16 rows               A row needs its largest element before its first one can be rounded. So 512 threads
//   |------- k -------|            hold 64 KiB in registers, find the largest elements, and then round and write. A
//    part 0 | part 1 | ..          long row is shared by a cluster of up to 8 blocks, which exchange their largest
//    a cluster, up to 8 blocks     elements. What goes beyond that is read a second time.
//
// Every element is read from memory once up to k = 8192, in pieces of 64 bytes and more whichever way the operand lies,
// and panels are written 256 bytes at a time. Two blocks fit on a multiprocessor: while one waits, the other writes. On
// an H200 4096 rows of 4096 take 50 us, whichever way they lie, 0.65 of the speed of a copy. Before sm_90 there are no
// clusters: a block takes whole rows.
#pragma once

#include <cstdint>

#include "cuda_cluster_sums.cuh"
#include "cuda_kernel_overlap.cuh"
#include "cuda_split_elements.cuh"
#include "ops/gemm/gemm_split_arguments.h"

namespace tessera::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

/// Blocks that share rows, and this one's number among them.
__device__ __forceinline__ unsigned split_parts() {
  return kHasClusters ? gridDim.y : 1;
}
__device__ __forceinline__ unsigned split_part() {
  return kHasClusters ? blockIdx.y : 0;
}

/// Eight steps of k of one row in registers: a chunk. Of 32 steps chunk q holds 4 q .. + 3 and 16 + 4 q .. + 3, so that
/// the four threads of a row read 64 bytes that lie together. A and B agree, and in which order products are added is
/// of no account.
struct SplitRun {
  float element[8];

  [[nodiscard]] __device__ __forceinline__ unsigned largest_bits() const {
    float largest = 0;
    // NaN is the largest of all.
#pragma unroll
    for (int i = 0; i < 8; ++i) asm("max.NaN.f32 %0, %0, %1;" : "+f"(largest) : "f"(fabsf(element[i])));
    return __float_as_uint(largest) & 0x7fffffffu;
  }
};

/// What a thread takes of its block's rows: eight steps of k, step() later the next eight, and so on.
template <bool kIsAlongK>
class SplitPlace {
 public:
  __device__ __forceinline__ explicit SplitPlace(const GemmSplitSide& side, std::int64_t first_row, int k,
                                                 const float* matrix)
      : side_(side), k_(k), step_(kSplitPrepareStep * static_cast<int>(split_parts())) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // A warp reads 128 bytes of 8 rows, or 64 bytes of 16 columns.
    row_ = kIsAlongK ? warp % 2 * 8 + lane / 4 : lane % 16;
    first_ = (kIsAlongK ? warp / 2 * 32 + lane % 4 * 8 : warp * 16 + lane / 16 * 8) +
             kSplitPrepareStep * static_cast<int>(split_part());
    values_ = matrix + (first_row + row_) * side.row_stride;
    has_row_ = first_row + row_ < side.rows;
  }
  [[nodiscard]] __device__ __forceinline__ int row() const { return row_; }
  [[nodiscard]] __device__ __forceinline__ int first() const { return first_; }
  [[nodiscard]] __device__ __forceinline__ int step() const { return step_; }
  /// Does the thread speak for its row among the lanes that share it?
  [[nodiscard]] __device__ __forceinline__ bool speaks() const {
    return kIsAlongK ? threadIdx.x % 4 == 0 : threadIdx.x % 32 < 16;
  }
  /// The largest over the lanes that share the row.
  [[nodiscard]] __device__ __forceinline__ unsigned largest_of_lanes(unsigned bits) const {
    if constexpr (kIsAlongK) {
      bits = max(bits, __shfl_xor_sync(~0u, bits, 1));
      return max(bits, __shfl_xor_sync(~0u, bits, 2));
    } else {
      return max(bits, __shfl_xor_sync(~0u, bits, 16));
    }
  }

  /// The eight steps of the chunk at p; 0 beyond the row. What is read is not read again, and makes room for what is
  /// written.
  [[nodiscard]] __device__ __forceinline__ SplitRun read(int p) const {
    SplitRun run;
    const int first = (p & ~31) + (p & 31) / 2;
    const float* const from = values_ + first * side_.k_stride;
    const bool is_whole = has_row_ && first + 20 <= k_;
    if (kIsAlongK && is_whole && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        *reinterpret_cast<float4*>(run.element + 4 * i) = __ldcs(reinterpret_cast<const float4*>(from) + 4 * i);
      }
    } else if (is_whole) {
#pragma unroll
      for (int i = 0; i < 8; ++i) run.element[i] = __ldcs(from + (i + i / 4 * 12) * side_.k_stride);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int step = i + i / 4 * 12;
        run.element[i] = has_row_ && first + step < k_ ? from[step * side_.k_stride] : 0.0f;
      }
    }
    return run;
  }

 private:
  const GemmSplitSide& side_;
  const float* values_;
  int k_, first_, row_, step_;
  bool has_row_;
};

/// Rounds and writes runs of a row, and counts the elements that fp16 holds with fewer bits than others.
template <bool kHasRest>
class SplitWriter {
 public:
  __device__ __forceinline__ SplitWriter(const GemmSplitSide& side, std::int64_t row, int padded_k, int shift)
      : first_(power_of_two(min(shift, 127))),
        second_(power_of_two(shift - min(shift, 127))),
        limit_(kTiny * power_of_two(-min(shift, 100)) * power_of_two(min(shift, 100) - shift)),
        block_rows_(side.block_rows),
        padded_k_(padded_k),
        panels_(side.panels + row / side.block_rows * side.block_rows * (padded_k / kUnit) * kSplitRowBytes +
                row % side.block_rows * 16) {}

  __device__ __forceinline__ void write(const SplitRun& run, int p) {
    if (p >= padded_k_) return;
    uint4 rounded, rest;
    auto* const rounded_pairs = reinterpret_cast<__half2*>(&rounded);
    auto* const rest_pairs = reinterpret_cast<__half2*>(&rest);
    float least = limit_;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // Twice, because the power goes up to 2^163. Both products are exact, but where nothing is left of a small one.
      const float a = run.element[2 * i], b = run.element[2 * i + 1];
      split_pair(a * first_ * second_, b * first_ * second_, rounded_pairs[i], rest_pairs[i]);
      least = fminf(fminf(least, fabsf(a)), fabsf(b));
    }
    if (least < limit_) {  // seldom, unless there are zeros
#pragma unroll
      for (int i = 0; i < 8; ++i) tiny_ += run.element[i] != 0 && fabsf(run.element[i]) < limit_ ? 1 : 0;
    }
    const int plane_bytes = block_rows_ * kSplitPlane * 2;
    unsigned char* const to =
        panels_ + std::int64_t{p / kUnit} * (kSplitPlanes * plane_bytes) + p % kUnit / 8 * block_rows_ * 16;
    *reinterpret_cast<uint4*>(to) = rounded;
    if constexpr (kHasRest) *reinterpret_cast<uint4*>(to + plane_bytes) = rest;
  }
  [[nodiscard]] __device__ __forceinline__ unsigned tiny() const {
    return tiny_;
  }

 private:
  /// Steps of k of a panel.
  static constexpr int kUnit = kHasRest ? kSplitPlane : kSplitPlane * kSplitPlanes;
  /// From here on fp16 keeps all 11 bits, of what rounding leaves too: its smallest step is 2^-24.
  static constexpr float kTiny = kHasRest ? 0x1p-3f : 0x1p-14f;

  float first_, second_;
  float limit_;  ///< before it is scaled, what is less is held by fp16 with fewer bits
  int block_rows_;
  int padded_k_;
  unsigned char* panels_;
  unsigned tiny_ = 0;
};

struct SplitPrepareShared {
  unsigned largest[kSplitPrepareRows];  ///< bits of the largest elements of the cluster's rows
  unsigned tiny[kSplitPrepareRows];     ///< of the first block: elements of the cluster's rows
};

/// `block` is the number of the block's rows, over all matrices.
template <bool kIsAlongK, bool kHasRest>
__device__ __forceinline__ void prepare_rows(const GemmSplitPrepareArguments& arguments, const GemmSplitSide& side,
                                             std::int64_t block, SplitPrepareShared& shared) {
  if (threadIdx.x < kSplitPrepareRows) shared.largest[threadIdx.x] = shared.tiny[threadIdx.x] = 0;
  __syncthreads();
  arrive_at_cluster();
  const std::int64_t blocks = side.padded_rows / kSplitPrepareRows;
  const std::int64_t matrix = block / blocks;
  const std::int64_t first_row = block % blocks * kSplitPrepareRows;
  const int padded_k = arguments.padded_k;
  const SplitPlace<kIsAlongK> place(side, first_row, arguments.k, side.values + matrix * side.matrix_stride);

  const int behind_held = place.first() + kSplitHeld * place.step();
  SplitRun held[kSplitHeld];
#pragma unroll
  for (int i = 0; i < kSplitHeld; ++i) held[i] = place.read(place.first() + i * place.step());
  unsigned largest = 0;
#pragma unroll
  for (int i = 0; i < kSplitHeld; ++i) largest = max(largest, held[i].largest_bits());
  for (int p = behind_held; p < padded_k; p += place.step()) {
    largest = max(largest, place.read(p).largest_bits());
  }
  largest = place.largest_of_lanes(largest);
  wait_for_cluster_arrivals();
  if (place.speaks()) {
    for (unsigned other = 0; other < split_parts(); ++other)
      raise_at_block(&shared.largest[place.row()], other, largest);
  }
  arrive_at_cluster();
  wait_for_cluster_arrivals();

  const std::int64_t row = matrix * side.padded_rows + first_row + place.row();
  SplitWriter<kHasRest> writer(side, row, padded_k, shift_of_largest(shared.largest[place.row()]));
#pragma unroll
  for (int i = 0; i < kSplitHeld; ++i) {
    writer.write(held[i], place.first() + i * place.step());
  }
  for (int p = behind_held; p < padded_k; p += place.step()) writer.write(place.read(p), p);
  if (writer.tiny() != 0) add_at_block(&shared.tiny[place.row()], 0, writer.tiny());
  arrive_at_cluster();
  wait_for_cluster_arrivals();
  if (split_part() != 0 || threadIdx.x >= kSplitPrepareRows) return;

  const unsigned bits = shared.largest[threadIdx.x];
  GemmSplitNote note{shift_of_largest(bits), static_cast<float>(shared.tiny[threadIdx.x]) * arguments.doubt_of_one};
  if (bits == 0) note.doubt = -__uint_as_float(kInfinityBits);
  if (bits >= kInfinityBits) note.doubt = __uint_as_float(kInfinityBits);
  side.notes[matrix * side.padded_rows + first_row + threadIdx.x] = note;
}

#endif

template <bool kHasRest>
__device__ __forceinline__ void prepare_operands(const GemmSplitPrepareArguments& arguments) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __shared__ SplitPrepareShared shared;
  if (!kHasClusters && blockIdx.y != 0) return;  // what a cluster's other blocks would do is this one's
  let_next_kernel_start();
  wait_for_kernel_before();
  const bool is_a = blockIdx.x < arguments.blocks_of_a;
  const GemmSplitSide& side = is_a ? arguments.a : arguments.b;
  const std::int64_t block = blockIdx.x - (is_a ? 0 : arguments.blocks_of_a);
  if (side.k_stride == 1) {
    prepare_rows<true, kHasRest>(arguments, side, block, shared);
  } else {
    prepare_rows<false, kHasRest>(arguments, side, block, shared);
  }
#else
  __trap();
#endif
}

}  // namespace tessera::cuda
