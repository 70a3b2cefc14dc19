// The stacks of a round of references, by one of patch_match's kernels: a box of references is a problem of its own, in
// the whole volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ops/denoise/denoise_launch.h"
#include "ops/patch_match/patch_match_packed_key_lanes.h"
#include "ops/patch_match/patch_match_screen.h"

namespace tessera::opencl {

/// Distances, indices and counts of stacks in the workspace.
class DenoiseMatch {
 public:
  /// Of one reference.
  [[nodiscard]] static std::size_t reference_bytes(const DenoiseStep& step) noexcept;

  /// `launch` is patch_match's of denoise_matching(), with a work-item a reference. Memory for so many references is in
  /// the workspace from this byte on.
  DenoiseMatch(const DenoiseStepPlan& plan, OperatorLaunch launch, std::int64_t references, std::size_t offset_bytes);
  /// By packed_key_lanes, whose words and norms of the volume are in the workspace too.
  [[nodiscard]] static DenoiseMatch by_lanes(const DenoiseStepPlan& plan, std::int64_t references,
                                             std::size_t offset_bytes);
  /// Of these words and norms.
  [[nodiscard]] static std::size_t word_bytes(const DenoiseStepPlan& plan);

  /// Before the first round.
  void prepare(DenoiseRun& run, const DenoiseOperands& operands) const;
  void enqueue(DenoiseRun& run, const DenoiseOperands& operands, const mathematics::DenoiseRound& round) const;

  [[nodiscard]] DenoiseMemory counts(const DenoiseRun& run) const;
  [[nodiscard]] DenoiseMemory indices(const DenoiseRun& run) const;
  [[nodiscard]] std::size_t end_of_workspace() const noexcept { return end_; }

 private:
  /// What goes before packed_key_lanes.
  struct Screen {
    Screen(const PatchScreen& screen, const PatchMatch& problem, OperatorLaunch launch)
        : tile(screen), matching(problem), function(std::move(launch.kernel)) {}

    PatchScreen tile;
    PatchMatch matching;
    DenoiseFunction function;
  };

  [[nodiscard]] DenoiseMemory words(const DenoiseRun& run, std::size_t offset_bytes) const;

  PatchShape shape_;
  std::size_t group_ = 0;  ///< that packed_key_lanes insists on; 0: any
  DenoiseFunction match_;
  std::optional<Screen> screen_;
  std::optional<PatchWords> words_;
  std::vector<DenoiseFunction> preparations_;
  DataType distance_type_;
  std::size_t distances_;
  std::size_t indices_;
  std::size_t counts_;
  std::size_t words_at_;
  std::size_t end_;
};

}  // namespace tessera::opencl
