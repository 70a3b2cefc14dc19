// What the host code of denoise's kernels shares: a step as kernels take it, the launches around its stacks, and the
// kernel that runs both steps. How the stacks of a round are filtered is the variant's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <tessera/ops/denoise.h>

#include "backend/variant.h"
#include "cuda_device.h"
#include "cuda_kernel.h"
#include "mathematics/denoise_rounds.h"
#include "ops/denoise/denoise_arguments.h"

namespace tessera::cuda {

/// The places of a stack that are filtered: the largest power of two of them.
[[nodiscard]] std::int64_t denoise_places(const DenoiseStep& step) noexcept;
/// The matching of so many patches.
[[nodiscard]] PatchMatch denoise_matching(const Denoise& problem, const DenoiseStep& step) noexcept;

/// So many threads, kDenoiseThreads a group.
[[nodiscard]] LaunchGrid denoise_line(std::int64_t threads) noexcept;

/// Parts of the workspace begin at multiples of it.
inline constexpr std::size_t kDenoiseLine = 256;
[[nodiscard]] constexpr std::size_t to_denoise_lines(std::size_t bytes) noexcept {
  return mathematics::round_up<std::size_t>(bytes, kDenoiseLine);
}
/// A slice from this byte on.
[[nodiscard]] inline backend::Slice rest_of(const backend::Slice& slice, std::size_t offset_bytes) noexcept {
  return {slice.buffer, slice.offset_bytes + offset_bytes, slice.size_bytes - offset_bytes};
}

/// What a step's stacks are made with.
struct DenoiseStepPlan {
  const Denoise& problem;
  const DenoiseStep& step;
  bool is_wiener;
  CudaDevice& device;
  const Tuning& tuning;
};

/// Finds and filters the stacks of a round: what a variant brings.
class DenoiseStacks {
 public:
  DenoiseStacks() = default;
  DenoiseStacks(const DenoiseStacks&) = delete;
  DenoiseStacks& operator=(const DenoiseStacks&) = delete;
  virtual ~DenoiseStacks() = default;

  /// Memory of the workspace.
  [[nodiscard]] virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Once for a volume of one channel that is matched, before its rounds.
  virtual void prepare(backend::Queue& queue, const void* matched, const backend::Slice& workspace) const = 0;
  /// `arguments` are the round's, but for the channel and what lies in the stacks' part of the workspace.
  virtual void enqueue(backend::Queue& queue, const void* matched, const mathematics::DenoiseRound& round,
                       DenoiseArguments arguments, const backend::Slice& workspace) const = 0;
};

/// A variant's stacks: what one reference takes of the workspace, and their maker, for rounds of up to so many
/// references.
struct DenoiseStacksMaker {
  std::size_t round_bytes = 0;  ///< that the references of a round may take
  std::function<std::size_t(const DenoiseStepPlan&)> reference_bytes;
  std::function<std::unique_ptr<DenoiseStacks>(const DenoiseStepPlan&, std::int64_t references)> make;
};

[[nodiscard]] std::unique_ptr<backend::Kernel> make_denoise(const Denoise& problem, backend::Device& device,
                                                            const Tuning& tuning, const DenoiseStacksMaker& maker);

/// Yes unless a thread for each voxel is more than one launch takes.
[[nodiscard]] backend::Verdict check_denoise(const Denoise& problem, const backend::Device& device);

}  // namespace tessera::cuda
