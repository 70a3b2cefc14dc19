// k split into parts, each summed by groups of its own: what the variants with tiles in registers share.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// The least that a launch takes where kernels follow each other, however little they compute: what the driver takes to
/// accept it. NVIDIA's 580 took 3 us on an H200's host and 5 to 7 on an H100's, whatever is left out: arguments that
/// stay, profiling.
inline constexpr double kGemmLaunch_us = 5.5;

/// What so many launches take that compute for `us` together. Of those that the driver holds up alike it is a little
/// less for what is over first.
[[nodiscard]] constexpr double gemm_with_launches_us(double us, int launches) noexcept {
  constexpr double kTie = 1e-3;
  const double least = launches * kGemmLaunch_us;
  return (us < least ? least : us) + kTie * us;
}
/// Does the driver hold up a single launch that is expected to take so long?
[[nodiscard]] constexpr bool is_held_up_by_driver(double us) noexcept {
  return us < 1.01 * kGemmLaunch_us;
}

/// The values of the tunable split_k: parts that k is cut into at most.
inline constexpr std::array<std::int64_t, 8> kGemmSplits{1, 2, 4, 8, 16, 32, 64, 128};
[[nodiscard]] Tunable split_k_tunable(std::int64_t preferred);

/// Parts of gemm_register_sum.cl.
struct GemmParts {
  cl_long count, length, width;
};
static_assert(sizeof(GemmParts) == 24, "gemm_register_sum.cl says so too");

/// k cut into parts of equal length, but perhaps the last. With more than one part, the workspace holds m x n sums for
/// each part and, within it, each product.
struct KParts {
  std::int64_t count = 1;
  std::int64_t length = 1;    ///< k of a part, at least 1
  std::int64_t width = 0;     ///< elements from one row of sums to the next
  std::int64_t elements = 0;  ///< of the workspace; 0 with one part

  /// The problem whose C are the sums in the workspace.
  [[nodiscard]] Gemm problem_of_sums(Gemm problem) const;
  [[nodiscard]] GemmParts scalars() const noexcept { return {.count = count, .length = length, .width = width}; }
};

/// At most `wanted` parts, each a multiple of `step` long, whose sums fit into the workspace.
[[nodiscard]] KParts cut_k(const Gemm& computed, std::int64_t wanted, std::int64_t step);

/// The launch that adds up the parts, whose sums begin at `first_element` of the workspace.
[[nodiscard]] OperatorLaunch launch_of_sum(std::unique_ptr<CompiledKernel> kernel, const Gemm& computed,
                                           const KParts& parts, std::int64_t first_element);

/// The kernel of one launch that multiplies, its parts first if there are several, and of the one that adds those up.
/// `source` holds both; `operands` are A, B and C. With `joined` elements of the workspace the first launch adds them
/// up itself, and is the only one.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_gemm_in_parts(const OpenclDevice& device,
                                                                  const ProgramSource& source, const Gemm& computed,
                                                                  const KParts& parts,
                                                                  std::vector<MemoryArgument> operands,
                                                                  const NdRange& range, std::size_t joined = 0);

}  // namespace tessera::opencl
