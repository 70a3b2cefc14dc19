// Own kernels that several tests launch, each in OpenCL C, CUDA C++ and C++.
#pragma once

#include <tessera/tessera.h>

namespace tessera::testing_support {

/// y[i] = factor * x[i] + y[i] for i < count: parameters x, y, factor (float), count (int64).
[[nodiscard]] KernelSource saxpy_source();

/// sums[group] = sum of x over the group's items below count, by a tree in local memory: parameters x (int32), sums
/// (int32), scratch (local int32, one for each item), count (int64). Group sizes are powers of 2.
[[nodiscard]] KernelSource group_sum_source();

/// x[0] becomes `rounds` steps of a sequence that no compiler shortens, from seed x[0]: parameters x (uint32), rounds
/// (int64). One item works; for taking time.
[[nodiscard]] KernelSource delay_source();
/// What delay_source() computes.
[[nodiscard]] std::uint32_t delayed(std::uint32_t seed, std::int64_t rounds);

/// Does the device run a function of the program? Others compile a source.
[[nodiscard]] bool takes_functions(const Device& device);

}  // namespace tessera::testing_support
