// Columns of references, whose estimates are added up in local memory: launches. See denoise_columns.cl.
#pragma once

#include <cstdint>
#include <optional>

#include "mathematics/denoise_columns.h"
#include "ops/denoise/denoise_match.h"

namespace tessera::opencl {

/// Columns of denoise_columns_layer.cl: of each axis, x first.
struct DenoiseColumnShape {
  cl_int first[3], references[3], apart[3], window[3], places[3];
  cl_int tile[2], columns[2];
  cl_int layers, ring, row, slice;
};
static_assert(sizeof(DenoiseColumnShape) == 92, "denoise_columns_layer.cl says so too");

/// A group of denoise_columns.cl for one step; none where it has no program or no room.
[[nodiscard]] std::optional<mathematics::DenoiseColumns> denoise_columns_of(const Denoise& problem,
                                                                            const DenoiseStep& step, bool is_wiener,
                                                                            const DeviceFacts& facts);

/// Filters the columns of a round.
class DenoiseColumnFilter {
 public:
  DenoiseColumnFilter(const DenoiseStepPlan& plan, const mathematics::DenoiseColumns& columns);
  void enqueue(DenoiseRun& run, const DenoiseOperands& operands, const mathematics::DenoiseRound& round,
               const DenoiseShape& shape, const DenoiseMatch& match) const;

 private:
  mathematics::PatchGeometry geometry_;
  mathematics::DenoiseColumns columns_;
  std::int64_t at_once_;  ///< groups that the device runs together
  DenoiseFunction filter_;
};

}  // namespace tessera::opencl
