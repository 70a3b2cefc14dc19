// denoise: what a correct problem is, for those who cut one.
#pragma once

#include <tessera/ops/denoise.h>

namespace tessera::detail {

/// The problem with its parameters filled in. Throws invalid_argument for a wrong one.
[[nodiscard]] Denoise checked_denoise(const Denoise& asked);

}  // namespace tessera::detail
