// The stacks of a round of references, by one of patch_match's kernels: a box of references is a problem of its own, in
// the whole volume.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/denoise/denoise_launch.h"
#include "ops/patch_match/patch_match_launch.h"

namespace tessera::opencl {

/// Distances, indices and counts of stacks in the workspace.
class DenoiseMatch {
 public:
  /// Of one reference.
  [[nodiscard]] static std::size_t reference_bytes(const DenoiseStep& step) noexcept;

  /// `launch` is patch_match's of denoise_matching(), with a work-item a reference. Memory for so many references is in
  /// the workspace from this byte on.
  DenoiseMatch(const DenoiseStepPlan& plan, OperatorLaunch launch, std::int64_t references, std::size_t offset_bytes);

  void enqueue(DenoiseRun& run, const DenoiseOperands& operands, const mathematics::DenoiseRound& round) const;

  [[nodiscard]] DenoiseMemory counts(const DenoiseRun& run) const;
  [[nodiscard]] DenoiseMemory indices(const DenoiseRun& run) const;
  [[nodiscard]] std::size_t end_of_workspace() const noexcept { return end_; }

 private:
  PatchShape shape_;
  DenoiseFunction match_;
  DataType distance_type_;
  std::size_t distances_;
  std::size_t indices_;
  std::size_t counts_;
  std::size_t end_;
};

}  // namespace tessera::opencl
