// What the host code of every patch_match kernel shares: the problem as kernels take it, names, operands and limits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tessera/ops/patch_match.h>

#include "backend/backend.h"
#include "backend/variant.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_kernel.h"
#include "mathematics/division.h"
#include "mathematics/patch_match_geometry.h"
#include "ops/patch_match/patch_match_arguments.h"

namespace tessera::cuda {

/// The problem without operands.
[[nodiscard]] PatchArguments patch_arguments(const PatchMatch& problem) noexcept;

/// "uint8", "uint8_wide" where distances of bytes pass 32 bits, "uint16", "float32".
[[nodiscard]] std::string patch_types(const PatchMatch& problem);

/// With these operands.
[[nodiscard]] PatchArguments with_operands(const PatchArguments& arguments,
                                           std::span<const backend::Slice> operands) noexcept;

/// A kernel of one launch.
class PatchKernel final : public CudaKernel {
 public:
  PatchKernel(const std::shared_ptr<Context>& context, const PatchMatch& problem, const Image& image,
              const std::string& function, const LaunchGrid& grid)
      : CudaKernel(context, image, function, grid), arguments_(patch_arguments(problem)) {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands, const backend::Slice&) override {
    PatchArguments arguments = with_operands(arguments_, operands);
    enqueue(queue, arguments);
  }

 private:
  PatchArguments arguments_;
};

/// So many threads, kPatchThreads a group.
[[nodiscard]] LaunchGrid patch_line(std::int64_t threads) noexcept;

/// Yes unless so many groups, a kernel's, are more than one launch takes.
[[nodiscard]] backend::Verdict check_patch_groups(std::int64_t groups, const backend::Device& device);
/// The same of a group for each reference, and one for every kPatchThreads.
[[nodiscard]] backend::Verdict check_group_of_reference(const PatchMatch& problem, const backend::Device& device);
[[nodiscard]] backend::Verdict check_thread_of_reference(const PatchMatch& problem, const backend::Device& device);

/// The tunable "threads": of a reference's group.
[[nodiscard]] Tunable patch_threads();
/// One group of so many threads a reference.
[[nodiscard]] LaunchGrid groups_of_references(const PatchMatch& problem, std::int64_t threads) noexcept;

}  // namespace tessera::cuda
