// The variant register: what its two shapes, through local memory and from panels, offer and share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// Values for the variant's tunables.
struct RegisterTuning {
  std::int64_t local_memory = 0;  ///< 1: through local memory; 0: from panels
  std::int64_t tile = 0;          ///< size of the tile of C that a group computes
  std::int64_t split_k = 1;       ///< parts of k, or fewer where k or the workspace is too small
};

/// A problem as processors compute it. C that is a single column of neighbouring elements becomes the row that it also
/// is, and then A and B change places; an operand that is a single row or column is taken as lying along k if it can
/// be.
struct Oriented {
  Gemm problem;
  bool swapped = false;  ///< A is the operator's second operand, and B the first

  /// A, B and C as the memory that a launch begins with.
  [[nodiscard]] std::vector<MemoryArgument> operands() const;
  /// So few rows, so long and both operands along k, that elements of C are best computed as dot products.
  [[nodiscard]] bool is_for_dots() const noexcept;
};
[[nodiscard]] Oriented orient(const Gemm& computed) noexcept;

/// Workspace beyond which a run is cut into pieces instead.
inline constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{64} << 20U;

/// k cut into parts of equal length, but perhaps the last. With more than one part, the workspace holds m x n sums for
/// each part and, within it, each product.
struct KParts {
  std::int64_t count = 1;
  std::int64_t length = 1;    ///< k of a part, at least 1
  std::int64_t width = 0;     ///< elements from one row of sums to the next
  std::int64_t elements = 0;  ///< of the workspace; 0 with one part

  /// The problem whose C are the sums in the workspace.
  [[nodiscard]] Gemm problem_of_sums(Gemm problem) const;
};

/// At most `wanted` parts, each a multiple of `step` long, whose sums fit into the workspace.
[[nodiscard]] KParts cut_k(const Gemm& computed, std::int64_t wanted, std::int64_t step);

/// The launch that adds up the parts, whose sums begin at `first_element` of the workspace.
[[nodiscard]] OperatorLaunch launch_of_sum(std::unique_ptr<CompiledKernel> kernel, const Gemm& computed,
                                           const KParts& parts, std::int64_t first_element);

/// Can the device run this tile? A tile that is offered works with every split_k.
[[nodiscard]] backend::Verdict check_register_local(const Gemm& problem, const OpenclDevice& device, std::int64_t tile);
[[nodiscard]] backend::Verdict check_register_panels(const Gemm& problem, const OpenclDevice& device,
                                                     std::int64_t tile);

[[nodiscard]] std::unique_ptr<backend::Kernel> make_register_local(const Gemm& problem, const OpenclDevice& device,
                                                                   const RegisterTuning& tuning);
[[nodiscard]] std::unique_ptr<backend::Kernel> make_register_panels(const Gemm& problem, const OpenclDevice& device,
                                                                    const RegisterTuning& tuning);
/// In place of panels, for a problem that is for dots.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_register_dots(const Oriented& oriented, const OpenclDevice& device,
                                                                  const RegisterTuning& tuning);

}  // namespace tessera::opencl
