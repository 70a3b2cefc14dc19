// The inner part of "fused": the stacks of sixteen references, from their voxels to the sums, in the best instruction
// set that the processor has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/denoise/denoise_step.h"

namespace tessera::cpu_tbb {

/// References whose stacks are filtered side by side, each in its own lane.
inline constexpr std::int64_t kBatchLanes = 16;

/// Stacks of one length, in one channel.
template <class T>
struct DenoiseBatch {
  DenoiseInput<T> input;
  std::int64_t channel = 0;
  std::int64_t channels = 1;
  std::int64_t channel_voxels = 0;  ///< from one colour of the volume to the next
  std::int64_t row = 0;             ///< voxels from one row of the volume to the next
  std::int64_t plane = 0;           ///< and from one plane to the next
  const DenoiseStepPlan* plan = nullptr;

  std::int64_t lanes = 0;                ///< that hold a reference: the first ones
  std::int64_t members = 0;              ///< of each stack, a power of two
  const std::int64_t* voxels = nullptr;  ///< members x kBatchLanes: where each patch begins in the volume
  const std::int64_t* places = nullptr;  ///< and where in the sums; lanes without a reference hold any that is valid

  SumsOfChannel sums;
  std::int64_t sums_row = 0;
  std::int64_t sums_plane = 0;

  float* coefficients = nullptr;  ///< voxels of a patch x members x kBatchLanes
  float* guide = nullptr;         ///< the same, for the Wiener filter
  float* patch = nullptr;         ///< voxels of a patch x kBatchLanes
  std::int32_t* weights = nullptr;
};

/// Bytes of a batch's memory, whose parts begin at multiples of 64.
[[nodiscard]] double denoise_batch_bytes(const DenoiseStep& step, bool is_wiener) noexcept;
/// Hands the parts out of that memory.
template <class T>
void place_batch(DenoiseBatch<T>& batch, const DenoiseStep& step, bool is_wiener, std::byte* memory) noexcept {
  const std::int64_t of_patch = step.patch.product() * kBatchLanes;
  batch.coefficients = reinterpret_cast<float*>(memory);
  batch.patch = batch.coefficients + of_patch * step.max_patches;
  batch.weights = reinterpret_cast<std::int32_t*>(batch.patch + of_patch);
  batch.guide = is_wiener ? batch.patch + 2 * of_patch : nullptr;
}

/// Adds the estimates of a batch to its sums.
void filter_batch(const DenoiseBatch<std::uint8_t>& batch);
void filter_batch(const DenoiseBatch<std::uint16_t>& batch);
void filter_batch(const DenoiseBatch<float>& batch);

}  // namespace tessera::cpu_tbb
