// Faults of other people's drivers, by name and version: what a variant's check() refuses although the device could do
// it by its own account. The one place that knows them.
#pragma once

#include <string_view>

#include "backend/variant.h"
#include "opencl_facts.h"

namespace tessera::opencl {

/// No, with the driver, its version and what it does wrong, if that is known of this variant of an operator.
[[nodiscard]] backend::Verdict check_known_faults(std::string_view operator_name, std::string_view variant,
                                                  const DeviceFacts& facts);

/// PoCL 5.0 loses elements of the first slice's sums where several slices of a work-group compute one tile through
/// local memory, and makes vectors of work-items: whichever way that is written down; a printf between makes them right
/// again. 3.1 is right.
[[nodiscard]] bool loses_sums_of_slices(const DeviceInfo& info);

}  // namespace tessera::opencl
