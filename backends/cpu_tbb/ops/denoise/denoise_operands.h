// denoise's operands as a kernel reads them, typed, and its one tunable.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/ops/denoise.h>

#include "cpu_tbb_kernel.h"
#include "mathematics/denoise_rounds.h"
#include "ops/denoise/denoise_step.h"

namespace tessera::cpu_tbb {

[[nodiscard]] inline std::vector<Tunable> denoise_tunables(const Denoise& problem, const backend::Device& /*device*/) {
  return {mathematics::denoise_slab_tunable(problem)};
}

/// The kernel whose references `filter`, an object with a template operator() for the voxels' type, filters.
template <class Filter>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_denoise_kernel(const Denoise& problem, const Tuning& tuning,
                                                                   Filter filter) {
  const DenoiseSlabs slabs{tuning.at("slab")};
  return std::make_unique<CpuTbbKernel>([problem, slabs, filter](Executor& executor, OperandAddresses operands) {
    const auto run = [&]<class T>(T) {
      denoise<T>(executor, problem, slabs, reinterpret_cast<const T*>(operands[0]),
                 reinterpret_cast<const T*>(operands[1]), reinterpret_cast<T*>(operands[2]),
                 [&](Executor& on, const DenoiseStepPlan& plan, const DenoiseInput<T>& input, const ReferenceBox& box,
                     DenoiseSums& sums) { filter(on, plan, input, box, sums); });
    };
    if (problem.type == DataType::uint8) return run(std::uint8_t());
    if (problem.type == DataType::uint16) return run(std::uint16_t());
    run(float());
  });
}

}  // namespace tessera::cpu_tbb
