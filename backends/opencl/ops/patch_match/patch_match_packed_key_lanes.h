// The launches of patch_match's packed_key_lanes, for its own kernel and for operators that filter what it finds: see
// patch_match_packed_key_lanes.cl, and for bytes patch_match_words.cl, whose results lie in memory beside:
//
//   | words of the volume | sums of planes | norms |
#pragma once

#include <cstddef>
#include <vector>

#include "ops/patch_match/patch_match_launch.h"

namespace tessera::opencl {

/// Words of patch_match_words.cl.
struct PatchWordShape {
  cl_long row_words;
  cl_long words;
  cl_long planes;
  cl_long norms;
};
static_assert(sizeof(PatchWordShape) == 32, "patch_match_words.cl says so too");

/// What bytes are matched by; of other voxels nothing.
struct PatchWords {
  explicit PatchWords(const PatchMatch& problem);

  bool are_needed = false;
  PatchWordShape shape{};
  std::size_t sums_at = 0;
  std::size_t norms_at = 0;
  std::size_t size_bytes = 0;
};

/// Launches that write words, sums and norms, with the workspace from its first byte on; none if they are not needed.
[[nodiscard]] std::vector<OperatorLaunch> patch_word_launches(const PatchMatch& problem, const OpenclDevice& device);
/// The launch that finds the stacks, with `is_second` those that a screen's launch left.
[[nodiscard]] OperatorLaunch patch_lanes_launch(const PatchMatch& problem, const OpenclDevice& device, bool is_second);

/// Yes, or that a GPU is not filled by a work-item for each reference.
[[nodiscard]] backend::Verdict check_enough_references(const PatchMatch& problem, const DeviceFacts& facts);
/// Are such launches the fastest whatever the number of references? On GPUs for words, and where the patch's loops are
/// unrolled.
[[nodiscard]] bool patch_lanes_pay(const PatchMatch& problem, const DeviceFacts& facts);
/// Yes, or why such launches are not possible.
[[nodiscard]] backend::Verdict check_patch_lanes(const PatchMatch& problem, const DeviceFacts& facts);

}  // namespace tessera::opencl
