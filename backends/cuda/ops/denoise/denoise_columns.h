// Columns of references, whose estimates are added up in shared memory: launches. See denoise_columns.cu.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda_context.h"
#include "mathematics/denoise_columns.h"
#include "ops/denoise/denoise_columns_arguments.h"
#include "ops/denoise/denoise_launch.h"

namespace tessera::cuda {

/// A block of denoise_columns.cu for one step; none where it has no program or no room.
[[nodiscard]] std::optional<mathematics::DenoiseColumns> denoise_columns_of(const Denoise& problem,
                                                                            const DenoiseStep& step, bool is_wiener,
                                                                            const DeviceLimits& limits);

/// Filters the columns of a round.
class DenoiseColumnFilter {
 public:
  DenoiseColumnFilter(const DenoiseStepPlan& plan, const mathematics::DenoiseColumns& columns);
  void enqueue(backend::Queue& queue, const mathematics::DenoiseRound& round, const DenoiseArguments& arguments) const;

 private:
  mathematics::PatchGeometry geometry_;
  mathematics::DenoiseColumns columns_;
  std::int64_t multiprocessors_;
  CudaFunction filter_;
};

}  // namespace tessera::cuda
