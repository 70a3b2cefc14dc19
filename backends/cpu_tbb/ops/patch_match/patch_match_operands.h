// patch_match's operands as a kernel reads them, typed.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <tessera/ops/patch_match.h>

#include "cpu_tbb_kernel.h"
#include "mathematics/patch_match_geometry.h"

namespace tessera::cpu_tbb {

/// One run's operands for a volume of T.
template <class T>
struct PatchOperands {
  using Distance = std::conditional_t<std::is_same_v<T, float>, float, std::int64_t>;

  PatchOperands(const PatchMatch& match, OperandAddresses operands)
      : problem(match),
        geometry(match),
        volume(reinterpret_cast<const T*>(operands[0])),
        counts(reinterpret_cast<std::int32_t*>(operands[1])),
        distances(reinterpret_cast<Distance*>(operands[2])),
        indices(reinterpret_cast<std::int64_t*>(operands[3])) {}

  const PatchMatch& problem;
  mathematics::PatchGeometry geometry;
  const T* volume;  ///< its held voxels
  std::int32_t* counts;
  Distance* distances;
  std::int64_t* indices;
};

/// The kernel that calls `compute(executor, PatchOperands<T>)` with T as the problem says.
template <class Compute>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_patch_kernel(const PatchMatch& problem, Compute compute) {
  return std::make_unique<CpuTbbKernel>(
      [problem, compute = std::move(compute)](Executor& executor, OperandAddresses operands) {
        if (problem.type == DataType::uint8) return compute(executor, PatchOperands<std::uint8_t>(problem, operands));
        if (problem.type == DataType::uint16) return compute(executor, PatchOperands<std::uint16_t>(problem, operands));
        compute(executor, PatchOperands<float>(problem, operands));
      });
}

}  // namespace tessera::cpu_tbb
