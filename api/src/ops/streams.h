// Problems that are cut into slabs, each in its own file.
#pragma once

#include <tessera/operators.h>
#include <tessera/stream.h>

namespace tessera::detail {

/// Both are checked.
[[nodiscard]] StreamReport stream_in_slabs(const Device& device, const Denoise& problem,
                                           const Denoise::HostOperands& operands, const StreamOptions& options);
[[nodiscard]] StreamReport stream_in_slabs(const Device& device, const KernelRegression& problem,
                                           const KernelRegression::HostOperands& operands,
                                           const StreamOptions& options);
[[nodiscard]] StreamReport stream_in_slabs(const Device& device, const PatchMatch& problem,
                                           const PatchMatch::HostOperands& operands, const StreamOptions& options);

}  // namespace tessera::detail
