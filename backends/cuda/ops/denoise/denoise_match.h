// Where the stacks of a round of references lie. A box of references is a problem of patch_match, in the whole volume.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/denoise/denoise_launch.h"
#include "ops/patch_match/patch_match_launch.h"

namespace tessera::cuda {

/// Distances, indices and counts in the workspace, from its begin on.
class DenoiseMatchLayout {
 public:
  /// Of one reference.
  [[nodiscard]] static std::size_t reference_bytes(const DenoiseStep& step) noexcept {
    return static_cast<std::size_t>(denoise_places(step)) * (2 * sizeof(std::int64_t)) + sizeof(std::int32_t);
  }

  DenoiseMatchLayout(const DenoiseStep& step, std::int64_t references) noexcept {
    const auto places = static_cast<std::size_t>(references * denoise_places(step));
    counts_ = to_denoise_lines(places * sizeof(std::int64_t));
    indices_ = counts_ + to_denoise_lines(static_cast<std::size_t>(references) * sizeof(std::int32_t));
    end_ = indices_ + to_denoise_lines(places * sizeof(std::int64_t));
  }

  [[nodiscard]] std::size_t end() const noexcept { return end_; }
  [[nodiscard]] const std::int32_t* counts(const backend::Slice& workspace) const noexcept {
    return pointer_at<std::int32_t>(workspace, counts_);
  }
  [[nodiscard]] const std::int64_t* indices(const backend::Slice& workspace) const noexcept {
    return pointer_at<std::int64_t>(workspace, indices_);
  }

  /// What matches the references of a round.
  [[nodiscard]] PatchArguments of_round(PatchArguments match, const void* matched,
                                        const mathematics::DenoiseRound& round,
                                        const backend::Slice& workspace) const noexcept {
    const std::int64_t first[] = {round.first.x, round.first.y, round.first.z};
    const std::int64_t count[] = {round.references.x, round.references.y, round.references.z};
    for (int axis = 0; axis < 3; ++axis) {
      match.start[axis] += first[axis] * match.step[axis];
      match.references[axis] = count[axis];
    }
    match.volume = matched;
    match.counts = pointer_at<std::int32_t>(workspace, counts_);
    match.distances = pointer_to<void>(workspace);
    match.indices = pointer_at<std::int64_t>(workspace, indices_);
    return match;
  }

 private:
  std::size_t counts_;
  std::size_t indices_;
  std::size_t end_;
};

}  // namespace tessera::cuda
