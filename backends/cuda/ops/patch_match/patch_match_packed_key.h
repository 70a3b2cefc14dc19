// The launches of patch_match's packed_key, for its own kernel and for operators that filter what it finds: see
// patch_match_packed_key.cu, patch_match_screen.h before it, and for bytes patch_match_packed_key_words.cu, whose words
// and norms lie in memory beside:
//
//   | words of the volume | sums of planes | norms |
//
// or of what patch_match_screen.h screens, norms alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_screen.h"

namespace tessera::cuda {

class PackedKeyMatch {
 public:
  /// tile_y: lines of references of a tile of patch_match_screen.cu, 0 for none; without it as many as are best.
  PackedKeyMatch(const std::shared_ptr<Context>& context, const PatchMatch& problem,
                 std::optional<std::int64_t> tile_y = std::nullopt);

  /// Memory for words and norms, or for norms; 0 where they are not needed.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// The problem without operands.
  [[nodiscard]] const PatchArguments& arguments() const noexcept { return arguments_.match; }

  /// Words and norms of a volume, before its patches are matched. `workspace` is workspace_bytes() long or longer.
  void prepare(backend::Queue& queue, const PatchArguments& match, const backend::Slice& workspace) const;
  /// The stacks of the references of `match`: all, or a box of them.
  void run(backend::Queue& queue, const PatchArguments& match, const backend::Slice& workspace) const;

 private:
  [[nodiscard]] PatchWordArguments with_memory(const PatchArguments& match, const backend::Slice& workspace) const;

  PatchWordArguments arguments_{};
  std::size_t sums_at_ = 0;
  std::size_t norms_at_ = 0;
  std::size_t workspace_bytes_ = 0;
  std::vector<CudaFunction> preparations_;
  std::unique_ptr<CudaFunction> match_;
  std::unique_ptr<ScreenMatch> screen_;
};

/// Yes, or why launches of so many threads, or keys of so many bits, are not possible.
[[nodiscard]] backend::Verdict check_packed_key(const PatchMatch& problem, const backend::Device& device);

}  // namespace tessera::cuda
