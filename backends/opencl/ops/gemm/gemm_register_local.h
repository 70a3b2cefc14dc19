// gemm, register_local: whether a device can run it, which decides whether the variants without local memory pay.
#pragma once

#include <vector>

#include "ops/gemm/gemm_local_tile.h"
#include "ops/gemm/gemm_operands.h"

namespace tessera::opencl {

/// Does every row of A and B begin at a multiple of 16 bytes, but for their addresses?
[[nodiscard]] inline bool reads_vectors(const Gemm& problem) noexcept {
  const std::int64_t elements = 16 / static_cast<std::int64_t>(size_bytes(problem.type));
  return (problem.lda | problem.ldb | problem.stride_a | problem.stride_b) % elements == 0;
}

/// Yes if the device can run one of its tiles. A tile that is offered works with every split_k.
[[nodiscard]] backend::Verdict check_register_local(const Gemm& problem, const OpenclDevice& device);

/// How long its preferred tuning is expected to take on a GPU, by the model that prefers it. Asked where the device can
/// run one.
[[nodiscard]] double register_local_microseconds(const Gemm& problem, const OpenclDevice& device);

/// One launch of its preferred tile, which leaves k whole, for a kernel of another operator. `memory`: A, B and C.
[[nodiscard]] OperatorLaunch launch_of_register_local(const Gemm& problem, const OpenclDevice& device,
                                                      std::vector<MemoryArgument> memory);

/// Backend::Variant::pays of the variants whose work-items read operands alone: on processors, and where local memory
/// does not suffice.
[[nodiscard]] backend::Verdict pays_without_local_memory(const Gemm& problem, const backend::Device& device);

}  // namespace tessera::opencl
