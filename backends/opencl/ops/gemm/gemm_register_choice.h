// Which tile and how many parts of k suit a problem on a device: numbers that were measured.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ops/gemm/gemm_register.h"

namespace tessera::opencl {

/// The values of split_k.
inline constexpr std::array<std::int64_t, 5> kRegisterSplits{1, 2, 4, 8, 16};

/// The preferred values for a problem, of the tiles offered. `local_memory` is settled by the kind of device.
[[nodiscard]] RegisterTuning choose_register(const Gemm& problem, const DeviceFacts& facts, std::int64_t local_memory,
                                             const std::vector<std::int64_t>& tiles);

}  // namespace tessera::opencl
