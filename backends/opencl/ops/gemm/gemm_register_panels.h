// gemm, register_panels: its products alone, for a kernel of another operator that leaves A in panels by itself.
#pragma once

#include <vector>

#include "ops/gemm/gemm_panel_plan.h"

namespace tessera::opencl {

/// The tile that it prefers for a problem.
[[nodiscard]] PanelShape preferred_panel_shape(const Gemm& problem, const DeviceFacts& facts);

/// One launch. `memory`: A in panels of shape.work_m rows, step by step of k, those of a product behind those of the
/// one before; B as it is stored, rows along n, which may be read up to a multiple of shape.work_n; C.
[[nodiscard]] OperatorLaunch launch_of_register_panels(const Gemm& problem, const OpenclDevice& device,
                                                       const PanelShape& shape, std::vector<MemoryArgument> memory);

}  // namespace tessera::opencl
